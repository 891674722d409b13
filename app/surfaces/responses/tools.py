"""The tools of a request -> what an upstream is offered, and the book by which calls find back.

An upstream knows functions with flat names only. So a custom tool is wrapped (``app.surfaces.freeform``), a
namespace is flattened to ``namespace__name``, and client-run kinds get their fixed schema. ``ToolBook`` knows of
every flat name what it was, and so in which item a call of it goes out. Hosted kinds are nothing that an
upstream can be offered: the ledger decides whether the request can be served without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from app.surfaces import freeform
from app.surfaces.reading import (
    array,
    boolean,
    join,
    mapping,
    objects,
    one_of,
    required_string,
    string,
)
from app.surfaces.responses.client_tools import DESCRIPTIONS, SCHEMAS, ClientKind
from app.turn.faults import invalid
from app.turn.schema import complete_schema
from app.turn.turn import Tool

SEPARATOR = "__"
MAX_NAME_CHARACTERS = 64
"""Of a flattened name; what every function-calling model takes."""

WITHHELD_KINDS = (
    "web_search",
    "web_search_2025_08_26",
    "web_search_preview",
    "web_search_preview_2025_03_11",
    "image_generation",
)
"""Hosted kinds that clients declare by default: left out, and said so, while other tools make do."""

REFUSED_KINDS = (
    "file_search",
    "code_interpreter",
    "mcp",
    "computer",
    "computer_use_preview",
    "programmatic_tool_calling",
)
"""Hosted kinds whose absence would change the answer."""

Shape = Literal["function", "custom"] | ClientKind


@dataclass(frozen=True, slots=True)
class Offered:
    """What stands behind a flat name: the shape of its calls, and its name as the caller gave it."""

    shape: Shape
    name: str
    namespace: str | None = None


def flat_name(name: str, namespace: str | None) -> str:
    """The one name by which an upstream knows a tool."""
    return f"{namespace}{SEPARATOR}{name}" if namespace else name


@dataclass(slots=True)
class ToolBook:
    """``tools`` in the order they came; ``offered`` by flat name; ``hosted`` are the kinds left out."""

    tools: list[Tool] = field(default_factory=list)
    offered: dict[str, Offered] = field(default_factory=dict)
    hosted: list[str] = field(default_factory=list)
    _sources: dict[str, str] = field(default_factory=dict)
    _places: dict[str, int] = field(default_factory=dict)

    def read(self, items: list[Any], path: str) -> None:
        """Take in a list of tools. Raises INVALID_REQUEST for wrong shapes and for two tools with one name.

        A tool that a later list brings again replaces the earlier one: searches find the same tool twice.
        """
        for item, at in objects(items, path):
            self._read_one(item, at, path)

    def settle(self) -> None:
        """What was read so far are earlier lists, whatever path they had."""
        self._sources.clear()

    def shape_of(self, flat: str) -> Offered:
        """What ``flat`` stands for; a name that nobody offered is a plain function's."""
        return self.offered.get(flat) or Offered("function", flat)

    def _read_one(self, item: Mapping[str, Any], path: str, source: str) -> None:
        match item.get("type"):
            case "function" | "custom":
                self._add(item, path, source)
            case "namespace":
                self._add_namespace(item, path, source)
            case "tool_search":
                self._add_search(item, path, source)
            case "local_shell" | "apply_patch" as kind:
                self._add_client(kind, path, source)
            case "shell":
                environment = mapping(item, "environment", path) or {}
                if environment.get("type") in (None, "local"):  # containers are refused by the ledger
                    self._add_client("shell", path, source)
            case kind if kind in WITHHELD_KINDS or kind in REFUSED_KINDS:
                self.hosted.append(kind)
            case kind:
                raise invalid(f"unknown value {str(kind)[:100]!r}", join(path, "type"))

    def _add(self, item: Mapping[str, Any], path: str, source: str, namespace: str | None = None) -> None:
        name = required_string(item, "name", path)
        flat = flat_name(name, namespace)
        if namespace and len(flat) > MAX_NAME_CHARACTERS:
            problem = (
                f"'{flat[:200]}', the name with its namespace, has more than {MAX_NAME_CHARACTERS} characters"
            )
            raise invalid(problem, join(path, "name"))
        description = string(item, "description", path) or ""
        if item.get("type") == "custom":
            schema = _custom_schema(mapping(item, "format", path), join(path, "format"))
            self._keep(
                Tool(flat, description, schema, is_custom=True),
                Offered("custom", name, namespace),
                join(path, "name"),
                source,
            )
        else:
            parameters = complete_schema(mapping(item, "parameters", path), join(path, "parameters"))
            self._keep(
                Tool(flat, description, parameters, boolean(item, "strict", path)),
                Offered("function", name, namespace),
                join(path, "name"),
                source,
            )

    def _add_namespace(self, item: Mapping[str, Any], path: str, source: str) -> None:
        namespace = required_string(item, "name", path)
        string(item, "description", path)
        at_tools = join(path, "tools")
        for tool, at in objects(array(item, "tools", path) or [], at_tools):
            self._add(tool, at, source, namespace)

    def _add_search(self, item: Mapping[str, Any], path: str, source: str) -> None:
        if one_of(item, "execution", ("server", "client"), path) != "client":
            return  # deferred tools are all loaded, so there is nothing to search
        description = string(item, "description", path) or DESCRIPTIONS["tool_search"]
        parameters = complete_schema(mapping(item, "parameters", path), join(path, "parameters"))
        tool = Tool("tool_search", description, parameters)
        self._keep(tool, Offered("tool_search", "tool_search"), join(path, "type"), source)

    def _add_client(
        self, kind: Literal["local_shell", "shell", "apply_patch"], path: str, source: str
    ) -> None:
        tool = Tool(kind, DESCRIPTIONS[kind], SCHEMAS[kind])
        self._keep(tool, Offered(kind, kind), join(path, "type"), source)

    def _keep(self, tool: Tool, offered: Offered, path: str, source: str) -> None:
        known = self.offered.get(tool.name)
        if known is None:
            self._places[tool.name] = len(self.tools)
            self.tools.append(tool)
        elif known != offered or self._sources.get(tool.name) == source:
            raise invalid(f"there is another tool by the name '{tool.name[:100]}'", path)
        else:
            self.tools[self._places[tool.name]] = tool
        self.offered[tool.name] = offered
        self._sources[tool.name] = source


def _custom_schema(wanted: Mapping[str, Any] | None, path: str) -> str:
    """The wrapper's schema; a grammar is described to the model in it, and not enforced."""
    if wanted is None or wanted.get("type") == "text":
        return freeform.WRAPPED_SCHEMA
    syntax = one_of(wanted, "syntax", ("lark", "regex"), path)
    if syntax is None:
        raise invalid("the field is required", join(path, "syntax"), code="missing_required_parameter")
    definition = required_string(wanted, "definition", path)
    what = "grammar" if syntax == "lark" else "expression"
    schema = orjson.loads(freeform.WRAPPED_SCHEMA)
    schema["properties"]["input"]["description"] = (
        f"Text that conforms to this {syntax} {what}:\n{definition}"
    )
    return orjson.dumps(schema).decode()
