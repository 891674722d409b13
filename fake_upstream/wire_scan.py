"""A scan of protobuf bytes that shows what a parsed message hides: order, duplicates, unknown fields.

The bytes are known to be valid protobuf: the scan runs on what the real parser accepted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

VARINT, FIXED64, LENGTH, GROUP_START, GROUP_END, FIXED32 = range(6)


def top_level_fields(data: bytes) -> list[int]:
    """The field numbers of a message in wire order, with duplicates."""
    return [number for number, _, _ in _fields(data)]


def unknown_fields(data: bytes, descriptor: Descriptor) -> list[dict[str, Any]]:
    """Every field, at every depth, that the definition does not name, or has as another wire type."""
    return list(_unknown(data, descriptor, ""))


def _unknown(data: bytes, descriptor: Descriptor, path: str) -> Iterator[dict[str, Any]]:
    seen: Counter[int] = Counter()
    for number, wire_type, value in _fields(data):
        field = descriptor.fields_by_number.get(number)
        if field is None or wire_type not in _wire_types(field):
            yield {"path": path, "number": number, "wire_type": wire_type}
        elif field.message_type is not None:
            name = f"{path}.{field.name}" if path else field.name
            inner = f"{name}[{seen[number]}]" if field.is_repeated else name
            seen[number] += 1
            yield from _unknown(value, field.message_type, inner)


def _wire_types(field: FieldDescriptor) -> tuple[int, ...]:
    if field.cpp_type in (FieldDescriptor.CPPTYPE_STRING, FieldDescriptor.CPPTYPE_MESSAGE):
        return (LENGTH,)
    own = VARINT
    if field.type in (field.TYPE_DOUBLE, field.TYPE_FIXED64, field.TYPE_SFIXED64):
        own = FIXED64
    elif field.type in (field.TYPE_FLOAT, field.TYPE_FIXED32, field.TYPE_SFIXED32):
        own = FIXED32
    return (own, LENGTH) if field.is_repeated else (own,)


def _fields(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """(number, wire type, bytes when length-delimited) of each field; what is inside a group is skipped."""
    position = depth = 0
    while position < len(data):
        key, position = varint(data, position)
        number, wire_type = key >> 3, key & 7
        start = end = position
        if wire_type == VARINT:
            _, end = varint(data, position)
        elif wire_type == FIXED64:
            end = position + 8
        elif wire_type == FIXED32:
            end = position + 4
        elif wire_type == LENGTH:
            length, start = varint(data, position)
            end = start + length
        if wire_type == GROUP_END:
            depth -= 1
        elif depth == 0:
            yield number, wire_type, data[start:end] if wire_type == LENGTH else b""
        if wire_type == GROUP_START:
            depth += 1
        position = end


def varint(data: bytes, position: int) -> tuple[int, int]:
    """(value, position behind it)."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position
