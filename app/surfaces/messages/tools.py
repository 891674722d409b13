"""``tools`` and ``tool_choice``, and how the history changes the tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.surfaces.messages.vendor_tools import VENDOR_TOOLS
from app.surfaces.reading import boolean, join, mapping, objects, required_string, string
from app.turn import tool_choice
from app.turn.faults import invalid
from app.turn.schema import complete_schema
from app.turn.tool_choice import ToolChoice
from app.turn.turn import Tool


@dataclass(frozen=True, slots=True)
class ToolChange:
    """One change in the history: ``tool`` is added, or ``name`` is added back or removed; ``path`` names it."""

    adds: bool
    name: str
    path: str
    tool: Tool | None = None


class ToolList:
    """The tools of one request, in order. Kinds that Candor does not offer are left out, and noticed."""

    def __init__(self) -> None:
        self._declared: dict[str, Tool] = {}
        self._offered: dict[str, Tool] = {}
        self._complete = True

    def declare(self, items: list[Any]) -> None:
        """``tools[]``. Raises INVALID_REQUEST for wrong shapes and for a name that is there twice."""
        for item, path in objects(items, "tools"):
            tool = read_tool(item, path)
            if tool is None:
                self._complete = False
            elif tool.name in self._declared:
                raise invalid(
                    f"Tool names must be unique; '{tool.name[:100]}' is there twice", f"{path}.name"
                )
            else:
                self._declared[tool.name] = self._offered[tool.name] = tool

    def change(self, changes: list[ToolChange]) -> None:
        """Apply the changes of the history in their order. A name that is no tool is a 400."""
        for change in changes:
            if change.tool is not None:
                self._declared[change.name] = self._offered[change.name] = change.tool
            elif change.name not in self._declared:
                if self._complete:
                    raise invalid(
                        f"the tool '{change.name[:100]}' is not among the request's tools", change.path
                    )
            elif change.adds:
                self._offered[change.name] = self._declared[change.name]
            else:
                self._offered.pop(change.name, None)

    @property
    def tools(self) -> list[Tool]:
        """What the model is offered."""
        return list(self._offered.values())

    def check(self, choice: ToolChoice | None) -> None:
        """Raise for a choice that the tools cannot satisfy.

        Where a kind was left out the request ends in its refusal, and not in the lack of the tool.
        """
        if self._complete and choice is not None:
            path = "tool_choice.name" if choice.named and self._offered else "tool_choice"
            tool_choice.check(choice, self.tools, path)


def read_tool(item: Mapping[str, Any], path: str) -> Tool | None:
    """One tool definition; None for the kinds that are not offered to the model."""
    kind = item.get("type") or "custom"
    if kind == "custom":
        name = required_string(item, "name", path)
        schema = mapping(item, "input_schema", path)
        if schema is None:
            raise invalid("the field is required", join(path, "input_schema"))
        return Tool(
            name,
            string(item, "description", path) or "",
            complete_schema(schema, join(path, "input_schema")),
            boolean(item, "strict", path),
        )
    vendor = VENDOR_TOOLS.get(kind)
    if vendor is None:
        return None
    if required_string(item, "name", path) != vendor.name:
        raise invalid(f"the name of a tool of this type is '{vendor.name}'", join(path, "name"))
    strict = boolean(item, "strict", path)
    return vendor if strict is None else replace(vendor, strict=strict)


def read_tool_choice(body: Mapping[str, Any]) -> tuple[ToolChoice | None, bool | None]:
    """``tool_choice`` -> (the choice, parallel_tool_calls). False only for ``disable_parallel_tool_use: true``."""
    choice = mapping(body, "tool_choice")
    if choice is None:
        return None, None
    disabled = boolean(choice, "disable_parallel_tool_use", "tool_choice")
    parallel = None if disabled is None else not disabled
    match choice.get("type"):
        case "auto":
            return tool_choice.AUTO, parallel
        case "none":
            return tool_choice.NONE, parallel
        case "any":
            return tool_choice.REQUIRED, parallel
        case "tool":
            return tool_choice.named(required_string(choice, "name", "tool_choice")), parallel
    raise invalid("must be 'auto', 'any', 'tool' or 'none'", "tool_choice.type")
