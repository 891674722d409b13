"""ToolChoice: one value for what four protocols say about which tools the model may or must call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from app.turn.faults import invalid

if TYPE_CHECKING:
    from app.turn.turn import Tool

Mode = Literal["none", "auto", "required"]


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """``names`` is None for "any of the tools", else the allowed names in the caller's order.

    ``named`` tells a choice of exactly one tool by name (``{"type": "function", ...}``) from a subset that
    happens to hold one name: they reach the upstream in different ways.
    """

    mode: Mode
    names: tuple[str, ...] | None = None
    named: bool = False


NONE = ToolChoice("none")
AUTO = ToolChoice("auto")
REQUIRED = ToolChoice("required")


def named(name: str) -> ToolChoice:
    """The choice that forces exactly the tool ``name``."""
    return ToolChoice("required", (name,), named=True)


def subset(mode: Literal["auto", "required"], names: Sequence[str]) -> ToolChoice:
    """The choice among ``names`` only; an empty subset allows nothing and is ``NONE``."""
    return ToolChoice(mode, tuple(names)) if names else NONE


def check(choice: ToolChoice | None, tools: Sequence[Tool], path: str) -> None:
    """Raise an INVALID_REQUEST fault naming ``path`` for a choice that ``tools`` cannot satisfy."""
    if choice is None:
        return
    if choice.mode == "required" and not tools:
        raise invalid("a tool call is demanded, but the request has no tools", path)
    known = {tool.name for tool in tools}
    for name in choice.names or ():
        if name not in known:
            raise invalid(f"the tool '{name[:100]}' is not among the request's tools", path)


@dataclass(frozen=True, slots=True)
class ToolPlan:
    """What becomes of a choice on a given upstream (the table of DESIGN section 2).

    ``tools`` are what the upstream is told about; ``option`` and ``tool_name`` are the wire's own choice field,
    None when nothing is sent. ``narrowed``: the list was cut to the allowed names. ``force_ignored``: the
    caller demanded a call and nothing guarantees it.
    """

    tools: Sequence[Tool]
    option: Literal["none", "required", "function"] | None = None
    tool_name: str = ""
    narrowed: bool = False
    force_ignored: bool = False


def plan(choice: ToolChoice | None, tools: Sequence[Tool], *, carries_choice: bool) -> ToolPlan:
    """Apply ``choice`` to ``tools`` for an upstream that does or does not carry a tool choice."""
    if choice is None or (choice.mode == "auto" and choice.names is None):
        return ToolPlan(tools)
    if choice.mode == "none":
        return ToolPlan((), option="none" if carries_choice else None)
    if choice.named and carries_choice:
        assert choice.names is not None
        return ToolPlan(tools, option="function", tool_name=choice.names[0])
    kept = tools if choice.names is None else [tool for tool in tools if tool.name in choice.names]
    narrowed = choice.names is not None
    if choice.mode == "auto":
        return ToolPlan(kept, narrowed=narrowed)
    if carries_choice:
        return ToolPlan(kept, option="required", narrowed=narrowed)
    return ToolPlan(kept, narrowed=narrowed, force_ignored=True)
