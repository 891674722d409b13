"""Field numbers of the request's two unconfirmed fields, and the numbers they must not take.

The numbers come from third-party definitions, not from a capture. A wrong number is decoded by the upstream
as another field, so operators may re-point them, and every number that the wire uses otherwise is out of
bounds: a repeated #1 would overwrite the metadata that the upstream authenticates on.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.settings import Settings, SettingsError
from app.upstreams.connect import wire_pb2

SWITCH = "DEVIN_CONNECT_TOOL_CHOICE_TAGS"
DEFAULT_CHOICE = 12
DEFAULT_PARALLEL = 11

LARGEST_FIELD_NUMBER = 536_870_911
"""2^29 - 1: protobuf's largest field number."""
RESERVED = range(19_000, 20_000)
"""Numbers that protobuf keeps for its implementations."""

_VARINT, _LENGTH_DELIMITED = 0, 2  # protobuf wire types


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Where ``tool_choice`` and ``disable_parallel_tool_calls`` go in GetChatMessageRequest."""

    choice: int = DEFAULT_CHOICE
    parallel: int = DEFAULT_PARALLEL

    def parallel_disabled(self) -> bytes:
        """``disable_parallel_tool_calls: true`` as it stands on the wire."""
        return _tag(self.parallel, _VARINT) + b"\x01"

    def tool_choice(self, option_name: str, tool_name: str) -> bytes:
        """``tool_choice`` as it stands on the wire."""
        body = wire_pb2.ToolChoice(option_name=option_name, tool_name=tool_name).SerializeToString()
        return _tag(self.choice, _LENGTH_DELIMITED) + _varint(len(body)) + body


def occupied() -> frozenset[int]:
    """Field numbers of GetChatMessageRequest that mean something else than the two fields at hand."""
    numbers = {field.number for field in wire_pb2.GetChatMessageRequest.DESCRIPTOR.fields}
    return frozenset(numbers - {DEFAULT_CHOICE, DEFAULT_PARALLEL})


def coordinates(settings: Settings) -> Coordinates:
    """The field numbers to use. Raises SettingsError, naming the switch, for numbers that cannot be meant."""
    tags = settings.connect_tool_choice_tags
    found = Coordinates(tags.get("choice", DEFAULT_CHOICE), tags.get("parallel", DEFAULT_PARALLEL))
    for name, number in (("choice", found.choice), ("parallel", found.parallel)):
        if problem := _problem(number):
            raise SettingsError(f"{SWITCH}: {name}={number} {problem}")
    if found.choice == found.parallel:
        raise SettingsError(
            f"{SWITCH}: choice and parallel are both {found.choice}; each needs a number of its own"
        )
    return found


def _problem(number: int) -> str | None:
    if number < 1:
        return "is not a field number: they start at 1"
    if number > LARGEST_FIELD_NUMBER:
        return f"is beyond protobuf's largest field number, {LARGEST_FIELD_NUMBER}"
    if number in RESERVED:
        return f"is in {RESERVED.start}-{RESERVED.stop - 1}, which protobuf keeps for itself"
    for field in wire_pb2.GetChatMessageRequest.DESCRIPTOR.fields:
        if field.number == number and number in occupied():
            return f"is taken: the upstream reads it as {field.name}"
    return None


def _tag(number: int, wire_type: int) -> bytes:
    return _varint(number << 3 | wire_type)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
