"""The tool history of a turn must pair: every result has its call, every call its result."""

from __future__ import annotations

from app.turn.faults import invalid
from app.turn.turn import Message, ToolCallPart, ToolResultPart


def check_tool_history(messages: list[Message]) -> None:
    """Raise an INVALID_REQUEST fault that names the message at fault.

    A result without an open call, a call without a result (unless it is in the last message) and an id
    repeated within one assistant turn are faults. Ids are opaque and may be used again in a later turn.
    Results may come in any order and after other messages.
    """
    open_calls: dict[str, ToolCallPart] = {}
    turn_ids: set[str] = set()
    previous_role = ""
    last = messages[-1] if messages else None
    for message in messages:
        if message.role != previous_role:
            turn_ids = set()
            previous_role = message.role
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                if part.id in turn_ids or part.id in open_calls:
                    raise invalid(f"the tool call id '{part.id}' is used twice", part.path)
                turn_ids.add(part.id)
                if message is not last:
                    open_calls[part.id] = part
            elif isinstance(part, ToolResultPart) and open_calls.pop(part.call_id, None) is None:
                raise invalid(
                    f"no tool call with id '{part.call_id}' comes before this result (each result needs its own call)",
                    part.path,
                )
    for call in open_calls.values():
        raise invalid(f"the tool call '{call.id}' has no result", call.path)
