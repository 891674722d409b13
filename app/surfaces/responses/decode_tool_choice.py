"""``tool_choice`` -> ToolChoice, by the table of DESIGN section 2 and the ``openai`` package's ``ToolChoice``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.ledger import Disposition, Note
from app.surfaces.reading import array, join, objects, one_of, required_string, string, wrong_type
from app.surfaces.responses.tools import REFUSED_KINDS, WITHHELD_KINDS, Offered, ToolBook, flat_name
from app.turn import tool_choice
from app.turn.faults import TurnFault, invalid
from app.turn.tool_choice import ToolChoice

PATH = "tool_choice"
HOSTED_CHOICES = (*WITHHELD_KINDS, *REFUSED_KINDS, "computer_use")


def decode_tool_choice(value: Any, book: ToolBook) -> tuple[ToolChoice | None, list[Note]]:
    """The choice, and notes on hosted tools that it names. A forced hosted tool is left to the ledger's refusal.

    Raises INVALID_REQUEST for a shape that means nothing, for a name that is not among the tools, and for a
    forced choice without any.
    """
    if value is None:
        return None, []
    if type(value) is str:
        choice = _mode(value)
        if not (book.hosted and not book.tools):  # hosted tools alone are refused by the ledger
            tool_choice.check(choice, book.tools, PATH)
        return choice, []
    if type(value) is not dict:
        raise wrong_type(value, "a string or an object", PATH)
    if value.get("type") == "allowed_tools":
        return _allowed(value, book)
    name = _name_of(value, PATH, book)
    return (None if name is None else tool_choice.named(name)), []


def _mode(value: str) -> ToolChoice:
    match value:
        case "none":
            return tool_choice.NONE
        case "auto":
            return tool_choice.AUTO
        case "required":
            return tool_choice.REQUIRED
    raise invalid(
        f"unknown value '{value[:100]}'; supported values are: 'none', 'auto', 'required'",
        PATH,
        code="invalid_value",
    )


def _allowed(value: Mapping[str, Any], book: ToolBook) -> tuple[ToolChoice, list[Note]]:
    required_string(value, "mode", PATH)
    mode = one_of(value, "mode", ("auto", "required"), PATH)
    items = array(value, "tools", PATH)
    at_tools = join(PATH, "tools")
    if items is None:
        raise invalid("the field is required", at_tools, code="missing_required_parameter")
    names: list[str] = []
    hosted: list[Note] = []
    for item, at in objects(items, at_tools):
        name = _name_of(item, at, book)
        if name is None:
            path = join(at, "type")
            hosted.append(Note("tool_choice[type=allowed_tools].tools", path, Disposition.REFUSED))
        else:
            names.append(name)
    if mode == "required":
        return tool_choice.subset("required", names), hosted
    return tool_choice.subset("auto", names), [] if names else hosted


def _name_of(item: Mapping[str, Any], path: str, book: ToolBook) -> str | None:
    """The flat name of the tool that ``item`` points at; None for a hosted one."""
    match item.get("type"):
        case "function" | "custom" as shape:
            name, namespace = required_string(item, "name", path), string(item, "namespace", path)
            return _flat(shape, name, namespace, path, book)
        case "shell" | "apply_patch" | "local_shell" | "tool_search":
            return _flat(item["type"], item["type"], None, path, book)
        case kind if kind in HOSTED_CHOICES:
            return None
        case kind:
            raise invalid(f"unknown value {str(kind)[:100]!r}", join(path, "type"))


def _flat(shape: str, name: str, namespace: str | None, path: str, book: ToolBook) -> str:
    """By its flat name, or by its own if only one namespace has such a tool."""
    flat = flat_name(name, namespace)
    if flat in book.offered:
        found = [flat]
    else:
        found = [key for key, offered in book.offered.items() if _is(offered, name, namespace)]
    if len(found) != 1 or book.offered[found[0]].shape != shape:
        raise _not_among(name, path)
    return found[0]


def _is(offered: Offered, name: str, namespace: str | None) -> bool:
    return offered.name == name and namespace in (None, offered.namespace)


def _not_among(name: str, path: str) -> TurnFault:
    return invalid(f"the tool '{name[:100]}' is not among the request's tools", path)
