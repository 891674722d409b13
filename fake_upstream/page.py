"""The page at ``/_fake/``: captures for a person, newest first and decoded, with what deserves a look marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from jinja2 import Environment, Template

from app.upstreams.connect import wire_pb2
from fake_upstream.captures import Capture

MARKED = {11: "disable_parallel_tool_calls", 12: "tool_choice"}
"""The fields at the top of a request that somebody looks for here."""
SHOWN = 50
LONG_TEXT = 400
"""Characters from which on a text is folded."""
BYTES_A_LINE = 16
MOST_BYTES = 4096

_REQUEST = wire_pb2.GetChatMessageRequest.DESCRIPTOR
_WIRE_TYPES = {0: "varint", 1: "64 bits", 2: "length-delimited", 3: "group", 5: "32 bits"}

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'"


@dataclass(frozen=True)
class Node:
    """One field of a message: what it holds is a text, or fields of its own."""

    number: int
    name: str
    text: str = ""
    is_text: bool = False
    marked: bool = False
    below: Sequence[Node] = ()

    @property
    def folded(self) -> bool:
        """Whether the text is too long to be shown at once."""
        return len(self.text) > LONG_TEXT


@dataclass(frozen=True)
class Chip:
    """One field at the top of the message, in wire order."""

    number: int
    name: str
    kind: str = ""


@dataclass(frozen=True)
class View:
    """A capture as the page shows it."""

    id: str
    outcome: str
    path: str
    token: str
    model: str
    size: int
    error: str
    chips: Sequence[Chip] = ()
    unknown: Sequence[str] = ()
    fields: Sequence[Node] = ()
    headers: Sequence[tuple[str, str]] = ()
    dump: str = ""
    marks: Sequence[str] = field(default_factory=tuple)


def render(captures: Sequence[Capture], total: int) -> bytes:
    """The page over ``captures``, oldest first as the store has them; ``total`` is how many there are in all."""
    views = [view(capture.as_json()) for capture in reversed(captures)]
    return _template().render(views=views, total=total).encode()


def _template() -> Template:
    text = Path(__file__).with_name("page.html").read_text("utf-8")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(text)


def view(capture: Mapping[str, Any]) -> View:
    """What the page shows of one capture."""
    message = capture["message"] or {}
    raw = bytes.fromhex(capture["raw_hex"])
    return View(
        id=capture["id"],
        outcome=capture["outcome"],
        path=capture["path"],
        token=capture["token"] or "none",
        model=message.get("model", ""),
        size=len(raw),
        error=capture.get("error", ""),
        chips=list(_chips(capture["top_level_fields"])),
        unknown=[_unknown(found) for found in capture["unknown_fields"]],
        fields=list(_nodes(message, _REQUEST, top=True)),
        headers=sorted(capture["headers"].items()),
        dump=_dump(raw),
        marks=[f"#{number} {name}" for number, name in MARKED.items() if name in message],
    )


def _chips(numbers: Sequence[int]) -> Iterator[Chip]:
    seen: Counter[int] = Counter()
    for number in numbers:
        seen[number] += 1
        known = _REQUEST.fields_by_number.get(number)
        if known is None:
            yield Chip(number, "unknown", "unknown")
        elif number in MARKED:
            yield Chip(number, known.name, "marked")
        elif seen[number] > 1 and not known.is_repeated:
            yield Chip(number, f"{known.name}, again", "unknown")
        else:
            yield Chip(number, known.name)


def _unknown(found: Mapping[str, Any]) -> str:
    place = found["path"] or "the top"
    kind = _WIRE_TYPES.get(found["wire_type"], f"wire type {found['wire_type']}")
    return f"#{found['number']} at {place}, {kind}"


def _nodes(message: Mapping[str, Any], descriptor: Descriptor, *, top: bool = False) -> Iterator[Node]:
    """The fields of a message as JSON that are there, by number."""
    for known in sorted(descriptor.fields, key=lambda known: known.number):
        if known.name not in message:
            continue
        value = message[known.name]
        marked = top and known.number in MARKED
        if known.is_repeated:
            for index, item in enumerate(value):
                yield _node(known, f"{known.name}[{index}]", item, marked)
        else:
            yield _node(known, known.name, value, marked)


def _node(known: FieldDescriptor, name: str, value: Any, marked: bool) -> Node:
    if known.message_type is not None:
        return Node(known.number, name, marked=marked, below=list(_nodes(value, known.message_type)))
    if isinstance(value, str):
        return Node(known.number, name, value, is_text=True, marked=marked)
    return Node(
        known.number, name, str(value).lower() if isinstance(value, bool) else str(value), marked=marked
    )


def _dump(raw: bytes) -> str:
    """Offsets, bytes and what of them is ASCII; the first MOST_BYTES."""
    lines = []
    for start in range(0, min(len(raw), MOST_BYTES), BYTES_A_LINE):
        row = raw[start : start + BYTES_A_LINE]
        letters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        lines.append(f"{start:06x}  {row.hex(' '):<{BYTES_A_LINE * 3 - 1}}  {letters}")
    if len(raw) > MOST_BYTES:
        lines.append(f"... {len(raw) - MOST_BYTES} bytes more: GET /_fake/captures")
    return "\n".join(lines)
