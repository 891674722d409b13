"""A surface's rows, compiled into a tree that one pass over a request body follows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.ledger.parameter import Disposition, Parameter
from app.turn.faults import invalid

Place = tuple[Any, ...]
"""Where a value is: keys and list indexes from the top of the body, e.g. ``("messages", 3, "name")``."""

_Trail = tuple[Any, Any] | None
"""A place as linked pairs, (trail so far, next step): cheap to extend, unrolled only for a finding."""

_NO_NAME = '""'

UNKNOWN_REASON = "no documented parameter of this surface has that name"


@dataclass(frozen=True, slots=True)
class Observation:
    """A value that is there and may matter: its row, where it stands, and the value."""

    row: Parameter
    place: Place
    value: Any

    @property
    def path(self) -> str:
        """The concrete path as the caller wrote it: ``messages[3].name``."""
        return path_of(self.place)


@dataclass(frozen=True, slots=True)
class Note:
    """A finding that only the decoder can know of, such as a late system message that kept its place."""

    row_path: str
    path: str
    disposition: Disposition


def path_of(place: Iterable[Any]) -> str:
    """``("messages", 3, "name")`` -> ``messages[3].name``; a key without a name is written as two quotes."""
    text = ""
    for step in place:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step or _NO_NAME}" if text else step or _NO_NAME
    return text


@dataclass(slots=True)
class _Kind:
    """The keys of one kind of object: those nothing need be said of, those observed, those looked into.

    ``respelled`` maps every further spelling of a key to its first. ``quiet`` and ``inner`` are the keys of which
    nothing can be said but by what is below them: without anything below, and with it.
    """

    row: Parameter | None = None
    plain: set[str] = field(default_factory=set)
    observed: dict[str, Parameter] = field(default_factory=dict)
    below: dict[str, _Node] = field(default_factory=dict)
    respelled: dict[str, str] = field(default_factory=dict)
    quiet: frozenset[str] = frozenset()
    inner: dict[str, _Node] = field(default_factory=dict)
    speaks: bool = False

    def seal(self) -> None:
        self.speaks = self.row is not None and not self.row.plain
        silent = self.plain - self.observed.keys() - self.respelled.keys()
        self.quiet = frozenset(silent - self.below.keys())
        self.inner = {key: self.below[key] for key in silent & self.below.keys()}
        for node in self.below.values():
            node.seal()


@dataclass(slots=True)
class _Node:
    """What stands at one path: objects of one kind or told apart by a tag key, or strings from a known list.

    ``in_list``: the tagged objects are elements of a list; one in the list's place is the decoder's to refuse.
    """

    tag: str | None = None
    default_kind: str | None = None
    in_list: bool = False
    kinds: dict[str, _Kind] = field(default_factory=dict)
    plain_kind: _Kind = field(default_factory=_Kind)
    values: dict[str, Parameter] = field(default_factory=dict)

    def holders(self) -> list[_Kind]:
        """The kinds that a key at this node may belong to."""
        return [self.plain_kind] if self.tag is None else list(self.kinds.values())

    def only(self, kind: str, path: str) -> _Node:
        """This node with one kind left, to hang keys on that kind alone."""
        if kind not in self.kinds:
            raise ValueError(f"ledger path {path!r} selects the kind {kind!r}, which has no row of its own")
        return _Node(self.tag, self.default_kind, self.in_list, {kind: self.kinds[kind]})

    def seal(self) -> None:
        """Fix the sets that the walk goes by; the tag key itself needs no row."""
        self.plain_kind.seal()
        for kind in self.kinds.values():
            if self.tag is not None:
                kind.plain.add(self.tag)
            kind.seal()


def _names_value(path: str) -> bool:
    """Whether ``path`` is one value of a list of strings: ``include[]=reasoning.encrypted_content``."""
    return "[]=" in path


def _names_kind(path: str) -> bool:
    """Whether the last step of ``path`` is ``tag=kind``."""
    return "=" in path.rsplit("]", 1)[-1] and not _names_value(path)


_STEP = re.compile(r"([^.\[\]=]+)(\[\]|\[([^\]=]+)=([^\]]*)\])?")


def _steps(path: str) -> Iterator[tuple[str, str | None, str | None]]:
    """``input[type=reasoning].summary`` -> (input, type, reasoning), (summary, None, None)."""
    position = 0
    while position < len(path):
        match = _STEP.match(path, position)
        if match is None:
            raise ValueError(f"ledger path {path!r} cannot be read at {position}")
        yield match[1], match[3], match[4]
        position = match.end() + 1


class Ledger:
    """All rows of one surface.

    ``tags`` tells which objects come in kinds: row path -> (tag key, kind of an object without the tag or None
    when the tag is required), e.g. ``{"messages[]": ("role", None), "tools[]": ("type", "custom")}``.
    ``spellings`` gives further spellings of a key (snake_case on generate_content).
    ``same`` lists places that hold what another place holds, and need no rows of their own:
    ``{"input[type=additional_tools].tools[]": "tools[]"}``.

    A row whose path ends in ``[]=value`` is one value of a list of strings; other values are then refused.
    """

    def __init__(
        self,
        surface: str,
        rows: Iterable[Parameter],
        *,
        tags: Mapping[str, tuple[str, str | None]] | None = None,
        spellings: Mapping[str, tuple[str, ...]] | None = None,
        same: Mapping[str, str] | None = None,
    ) -> None:
        self.surface = surface
        self.rows: dict[str, Parameter] = {}
        self._spellings = spellings or {}
        self._tags = {
            path.replace("[]", ""): (*tag, path.endswith("[]")) for path, tag in (tags or {}).items()
        }
        self._root = _Node()
        for row in rows:
            if row.path in self.rows:
                raise ValueError(f"{surface}: the row {row.path} is there twice")
            self.rows[row.path] = row
        kind_rows = [row for row in self.rows.values() if _names_kind(row.path)]
        for row in sorted(kind_rows, key=lambda row: row.path.count(".")):
            self._place_kind(row)
        for row in self.rows.values():
            if _names_value(row.path):
                self._place_value(row)
            elif not _names_kind(row.path):
                self._place(row)
        for path, model in (same or {}).items():
            self._place_same(path, model)
        self._root.seal()

    def _nodes(self, path: str) -> list[_Node]:
        """The nodes that ``path`` leads to: several where it passes through objects that come in kinds."""
        nodes = [self._root]
        trail = ""
        for name, _tag, kind in _steps(path):
            trail = f"{trail}.{name}" if trail else name
            nodes = [self._child(holder, name, trail) for node in nodes for holder in node.holders()]
            if kind is not None:
                nodes = [node.only(kind, path) for node in nodes]
        return nodes

    def _child(self, holder: _Kind, name: str, trail: str) -> _Node:
        if name not in holder.below:
            node = _Node(*self._tags.get(trail, (None, None, False)))
            for spelling in self._spell(holder, name):
                holder.below[spelling] = node
        return holder.below[name]

    def _spell(self, holder: _Kind, name: str) -> tuple[str, ...]:
        """Every spelling of ``name``, the further ones being noted in ``holder``."""
        further = self._spellings.get(name, ())
        holder.respelled.update(dict.fromkeys(further, name))
        return (name, *further)

    def _place_kind(self, row: Parameter) -> None:
        parent, _, selection = row.path.rpartition(".")
        tag, _, kind = selection.partition("=")
        for node in self._nodes(parent):
            if node.tag != tag:
                raise ValueError(f"{self.surface}: {row.path} selects by {tag}, the ledger by {node.tag}")
            node.kinds.setdefault(kind, _Kind()).row = row

    def _place(self, row: Parameter) -> None:
        parent, _, last = row.path.rpartition(".")
        name = last.partition("[")[0]
        for node in self._nodes(parent):
            for holder in node.holders():
                for spelling in self._spell(holder, name):
                    if row.plain:
                        holder.plain.add(spelling)
                    else:
                        holder.observed[spelling] = row

    def _place_value(self, row: Parameter) -> None:
        path, _, value = row.path.partition("[]=")
        for node in self._nodes(path):
            node.values[value] = row

    def _place_same(self, path: str, model: str) -> None:
        (node,) = self._nodes(model)
        parent, _, last = path.rpartition(".")
        name = last.partition("[")[0]
        for holder_node in self._nodes(parent):
            for holder in holder_node.holders():
                if name in holder.below:
                    raise ValueError(f"{self.surface}: {path} has rows of its own and cannot be as {model}")
                for spelling in (name, *self._spellings.get(name, ())):
                    holder.below[spelling] = node

    def walk(self, body: Mapping[str, Any]) -> list[Observation]:
        """Everything in ``body`` that may matter, in document order.

        Raises an INVALID_REQUEST fault for an object whose kind no row names, with the path of its tag, and
        for an object that holds one key in two spellings.
        """
        found: list[Observation] = []
        _walk(self._root.plain_kind, body, None, found)
        return found


def _walk(kind: _Kind, body: Mapping[str, Any], place: _Trail, found: list[Observation]) -> None:
    quiet, inner, below, respelled = kind.quiet, kind.inner, kind.below, kind.respelled
    for key, value in body.items():
        if key in quiet or value is None:
            continue
        if key in inner:
            if type(value) is not str:
                _descend(inner[key], value, (place, key), found)
            continue
        if key in respelled and body.get(respelled[key]) is not None:
            raise invalid(f"the field is also there as '{respelled[key]}'", path_of(_unroll((place, key))))
        row = kind.observed.get(key)
        node = below.get(key)
        if row is not None:
            if not row.is_neutral(value):
                found.append(Observation(row, _unroll((place, key)), value))
        elif key not in kind.plain and (node is None or type(value) not in (dict, list)):
            found.append(Observation(_unknown(_unroll(place), key), _unroll((place, key)), value))
        if node is not None:
            _descend(node, value, (place, key), found)


def _descend(node: _Node, value: Any, place: _Trail, found: list[Observation]) -> None:
    if type(value) is list:
        _walk_list(node, value, place, found)
    elif type(value) is dict and not node.in_list:
        _visit(node, value, place, found)


def _walk_list(node: _Node, items: list[Any], place: _Trail, found: list[Observation]) -> None:
    tag, kinds = node.tag, node.kinds
    if node.values:
        _walk_values(node.values, items, place, found)
        return
    if tag is None:
        quiet = node.plain_kind.quiet
        for index, item in enumerate(items):
            if type(item) is dict and not item.keys() <= quiet:
                _walk(node.plain_kind, item, (place, index), found)
        return
    for index, item in enumerate(items):
        if type(item) is dict:
            name = item.get(tag)
            if name is None:
                name = node.default_kind
            kind = kinds.get(name) if type(name) is str else None
            if kind is None or kind.speaks:
                _visit(node, item, (place, index), found)
            elif not item.keys() <= kind.quiet:
                _walk(kind, item, (place, index), found)


def _walk_values(
    values: Mapping[str, Parameter], items: list[Any], place: _Trail, found: list[Observation]
) -> None:
    for index, item in enumerate(items):
        row = values.get(item) if type(item) is str else None
        if row is None:
            path = path_of(_unroll((place, index)))
            if type(item) is not str:
                raise invalid("must be a string", path, code="invalid_type")
            known = ", ".join(f"'{value}'" for value in values)
            problem = f"unknown value '{item[:100]}'; supported values are: {known}"
            raise invalid(problem, path, code="invalid_value")
        if not row.plain:
            found.append(Observation(row, _unroll((place, index)), item))


def _visit(node: _Node, item: Mapping[str, Any], place: _Trail, found: list[Observation]) -> None:
    if node.tag is None:
        _walk(node.plain_kind, item, place, found)
        return
    name = item.get(node.tag)
    if name is None:
        name = node.default_kind
    kind = node.kinds.get(name) if type(name) is str else None
    if kind is None:
        path = path_of(_unroll((place, node.tag)))
        if name is None:
            problem = f"the field is required; {_choices(node)}"
            raise invalid(problem, path, code="missing_required_parameter")
        if type(name) is not str:
            raise invalid("must be a string", path, code="invalid_type")
        raise invalid(f"unknown value '{name[:100]}'; {_choices(node)}", path, code="invalid_value")
    if kind.row is not None and kind.speaks:
        found.append(Observation(kind.row, _unroll((place, node.tag)), name))
    _walk(kind, item, place, found)


def _choices(node: _Node) -> str:
    return "supported values are: " + ", ".join(f"'{name}'" for name in node.kinds)


def _unroll(trail: _Trail) -> Place:
    steps: list[Any] = []
    while trail is not None:
        trail, step = trail
        steps.append(step)
    return tuple(reversed(steps))


def _unknown(place: Place, key: str) -> Parameter:
    """A row made up for a key that no row names: ``messages[].colour``."""
    path = path_of((*place, key))
    return Parameter(re.sub(r"\[\d+\]", "[]", path), Disposition.IGNORED, UNKNOWN_REASON)
