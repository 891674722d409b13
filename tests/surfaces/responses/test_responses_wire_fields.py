"""Every forwarded row's samples are found in the field of the wire that the row names, and differ there."""

from __future__ import annotations

import re
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from app.ledger import Disposition, Parameter
from app.turn.features import Feature
from app.upstreams.connect import wire_pb2
from app.upstreams.connect.coordinates import Coordinates
from app.upstreams.connect.encode import Identity, RequestEncoder
from tests.support.responses import SURFACE, decode
from tests.support.responses_rows import request_for

ROWS = [
    row
    for row in SURFACE.ledger.rows.values()
    if row.disposition is Disposition.FORWARDED and row.wire not in (None, "model")
]
ENCODER = RequestEncoder(frozenset(Feature), Coordinates(), Identity("candor", "1"))


def sent(row: Parameter, sample: Any) -> dict[str, Any]:
    turn = decode(request_for(row, sample).body).turn
    message = wire_pb2.GetChatMessageRequest.FromString(ENCODER.encode(turn, turn.model, "token"))
    return MessageToDict(message, preserving_proto_field_name=True)


def values_at(message: Any, path: str) -> list[Any]:
    """All values at ``messages[].tool_calls[].name``."""
    found = [message]
    for name in re.sub(r"\[\]", "", path).split("."):
        found = [holder[name] for holder in found if name in holder]
        found = [item for value in found for item in (value if isinstance(value, list) else [value])]
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.path)
def test_responses_forwarded_row_reaches_its_field(row: Parameter) -> None:
    assert row.wire is not None
    seen = [values_at(sent(row, sample), row.wire) for sample in row.samples]

    assert any(seen)
    if len(seen) > 1:
        assert seen[0] != seen[1]
