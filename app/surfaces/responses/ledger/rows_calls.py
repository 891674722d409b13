"""Rows of ``input[]``: calls that the model made earlier, and what they returned.

Source: the ``openai`` package's ``ResponseInputItemParam``. That calls need an upstream with tools is said once,
by the row ``input``.
"""

from __future__ import annotations

from collections.abc import Iterator

from app.ledger import Disposition, Parameter
from app.surfaces.responses.ledger import rules
from app.surfaces.responses.ledger.rows_input import LABEL, input_parts, silent
from app.turn.features import Feature

FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
IGNORED, REFUSED = Disposition.IGNORED, Disposition.REFUSED

_OBJECT_IN_WHOLE = "Carried whole, as JSON."


def _caller(item: str) -> Parameter:
    return Parameter(
        f"{item}.caller",
        IGNORED,
        "A call by a hosted program is replayed as the model's own.",
        rule=rules.caller,
        samples=({"type": "program", "caller_id": "a"}, {"type": "direct"}),
    )


def _function_calls() -> Iterator[Parameter]:
    item = "input[type=function_call]"
    yield Parameter(
        "input[].type=function_call",
        FORWARDED,
        "A call of the assistant's.",
        wire="messages[].tool_calls[].name",
    )
    for name, wire, samples in (
        ("name", "name", ("f", "g")),
        ("namespace", "name", ("a", "b")),
        ("arguments", "arguments_json", ('{"x":1}', '{"x":2}')),
        ("call_id", "id", ("call_a", "call_b")),
    ):
        reason = "Joined to the name." if name == "namespace" else "Sent as it is."
        yield Parameter(
            f"{item}.{name}", FORWARDED, reason, wire=f"messages[].tool_calls[].{wire}", samples=samples
        )
    yield from silent(item, EMULATED, LABEL, ("id", "status", "async"))
    yield _caller(item)

    item = "input[type=function_call_output]"
    yield Parameter(
        "input[].type=function_call_output", FORWARDED, "A call's result.", wire="messages[].text"
    )
    yield Parameter(
        f"{item}.output",
        FORWARDED,
        "A string, or parts.",
        wire="messages[].text",
        samples=("1", "2"),
    )
    yield Parameter(
        f"{item}.call_id",
        FORWARDED,
        "Sent as it is; every result needs its call.",
        wire="messages[].tool_call_id",
        samples=("call_a", "call_b"),
    )
    yield from silent(item, EMULATED, LABEL, ("id", "status", "name", "namespace"))
    yield _caller(item)
    yield from input_parts(f"{item}.output[]")


def _custom_calls() -> Iterator[Parameter]:
    item = "input[type=custom_tool_call]"
    yield Parameter(
        "input[].type=custom_tool_call",
        EMULATED,
        "A call of the function that wraps the custom tool.",
        exact=True,
    )
    yield from silent(item, EMULATED, "Goes with its call.", ("name", "namespace", "input", "call_id"))
    yield from silent(item, EMULATED, LABEL, ("id", "status", "async"))
    yield _caller(item)
    item = "input[type=custom_tool_call_output]"
    yield Parameter("input[].type=custom_tool_call_output", EMULATED, "That call's result.", silent=True)
    yield from silent(item, EMULATED, "Goes with its result.", ("output", "call_id"))
    yield from silent(item, EMULATED, LABEL, ("id", "status", "name"))
    yield _caller(item)


def _client_calls() -> Iterator[Parameter]:
    for kind, details in (
        ("local_shell_call", "action"),
        ("shell_call", "action"),
        ("apply_patch_call", "operation"),
    ):
        item = f"input[type={kind}]"
        yield Parameter(
            f"input[].type={kind}",
            EMULATED,
            "A call of the function that stands for the client-run tool.",
            exact=True,
        )
        yield from silent(item, EMULATED, _OBJECT_IN_WHOLE, (details,))
        yield from silent(item, EMULATED, "Pairs call and result.", ("call_id",))
        yield from silent(item, EMULATED, LABEL, ("id", "status"))
        if kind != "local_shell_call":
            yield _caller(item)
    yield Parameter(
        "input[type=shell_call].environment",
        EMULATED,
        "Where it ran; its output tells what came of it.",
        silent=True,
    )
    for kind in ("local_shell_call_output", "shell_call_output", "apply_patch_call_output"):
        item = f"input[type={kind}]"
        yield Parameter(f"input[].type={kind}", EMULATED, "That call's result.", silent=True)
        yield from silent(item, EMULATED, "The text of the result.", ("output",))
        yield from silent(item, EMULATED, "Pairs call and result.", ("call_id", "id"))
        if kind != "local_shell_call_output":
            yield _caller(item)
    yield from silent("input[type=local_shell_call_output]", EMULATED, LABEL, ("status",))
    yield from silent("input[type=shell_call_output]", EMULATED, LABEL, ("status", "max_output_length"))
    yield Parameter(
        "input[type=apply_patch_call_output].status",
        FORWARDED,
        "failed is the upstream's flag, or a first line [error] where it has none.",
        feature=Feature.TOOL_ERROR_FLAG,
        without=EMULATED,
        rule=rules.failed,
        wire="messages[].text",
        samples=("failed", "completed"),
    )
    yield Parameter(
        "input[].type=tool_search_call",
        EMULATED,
        "A client's search is a call; the service's own is history, kept as a line of text.",
        exact=True,
    )
    yield from silent(
        "input[type=tool_search_call]",
        EMULATED,
        "Goes with its call.",
        ("arguments", "call_id", "execution", "id", "status"),
    )


_HOSTED = {
    "web_search_call": ("action",),
    "file_search_call": ("queries", "results"),
    "code_interpreter_call": ("code", "container_id", "outputs"),
    "image_generation_call": (
        "action",
        "background",
        "error",
        "output_format",
        "quality",
        "result",
        "revised_prompt",
        "size",
        "svg_usage",
    ),
    "mcp_call": ("approval_request_id", "arguments", "error", "name", "output", "server_label"),
}

_REFUSED = {
    "mcp_approval_request": ("arguments", "id", "name", "server_label"),
    "mcp_approval_response": ("approval_request_id", "approve", "id", "reason"),
    "computer_call": ("action", "actions", "call_id", "id", "pending_safety_checks", "status"),
    "computer_call_output": ("acknowledged_safety_checks", "call_id", "id", "output", "status"),
}


def _hosted_calls() -> Iterator[Parameter]:
    for kind, names in _HOSTED.items():
        reason = "Finished history of a hosted tool: kept as a line of text in the assistant's name."
        if kind == "image_generation_call":
            reason = "Finished history: a line of text, and the image as the user's."
        yield Parameter(f"input[].type={kind}", EMULATED, reason)
        yield from silent(f"input[type={kind}]", EMULATED, "Part of that line.", (*names, "id", "status"))
    yield Parameter(
        "input[].type=mcp_list_tools",
        IGNORED,
        "Lists hosted tools, none of which can be called.",
    )
    yield from silent(
        "input[type=mcp_list_tools]", IGNORED, "Goes with its item.", ("error", "id", "server_label", "tools")
    )
    for kind, names in _REFUSED.items():
        reason = "Needs a model that knows the computer tool."
        if kind.startswith("mcp"):
            reason = "Part of a hosted dialogue that cannot go on here."
        yield Parameter(f"input[].type={kind}", REFUSED, reason)
        yield from silent(f"input[type={kind}]", REFUSED, "Goes with its item, which is refused.", names)


CALL_ROWS = [*_function_calls(), *_custom_calls(), *_client_calls(), *_hosted_calls()]
