"""Every row with every sample, in a whole request: what the row says is what becomes of it."""

from __future__ import annotations

from typing import Any

import pytest

from app.ledger import Disposition, Parameter
from app.turn.faults import TurnFault
from tests.support.responses import DEFAULT, EVERYTHING, NOTHING, SURFACE, findings
from tests.support.responses_rows import request_for

ROWS = list(SURFACE.ledger.rows.values())
SAMPLES = [
    pytest.param(row, sample, id=f"{row.path}-{number}")
    for row in ROWS
    for number, sample in enumerate(row.samples)
]
REFUSED_BY_DECODING = {"previous_response_id", "input[].type=item_reference", "input[type=item_reference].id"}
NAMED_BY_ANOTHER = {
    "text.format.type=json_object",  # by text.format: the guarantee
    "text.format.type=json_schema",
    "text.format[type=json_schema].strict",
    "input[type=message].role",  # by the decoder: a system message that comes late
    "input[type=reasoning].summary",  # by the decoder: reasoning without a seal
    "input[type=reasoning].content",
}
FREE_OF_WIRE = {
    "text.format.type=text",
    "tools[type=custom].format.type=text",
    "tools[type=namespace].tools[type=custom].format.type=text",
}


def named(request: dict[str, Any], features: Any) -> dict[str, set[str]]:
    """The paths that a request's findings or its refusal name, by disposition."""
    try:
        found = findings(request, features)
    except TurnFault as fault:
        return {"refused": set(fault.details.get("refused", [fault.param]))}
    return {
        "ignored": {finding.path for finding in found.ignored},
        "emulated": {finding.path for finding in found.emulated},
    }


def test_responses_has_a_reason_and_samples_on_every_row() -> None:
    assert [row.path for row in ROWS if not row.reason or not row.samples] == []


def test_responses_names_a_wire_field_on_every_forwarded_row() -> None:
    without = {row.path for row in ROWS if row.disposition is Disposition.FORWARDED and row.wire is None}

    assert without == FREE_OF_WIRE


@pytest.mark.parametrize(("row", "sample"), SAMPLES)
def test_responses_finds_every_sample_of_every_row_at_its_path(row: Parameter, sample: Any) -> None:
    request = request_for(row, sample)

    found = {seen.path: seen.row for seen in SURFACE.ledger.walk(request.body)}

    unknown = [path for path, seen in found.items() if seen.path not in SURFACE.ledger.rows]
    assert unknown == []
    if row.plain or row.is_neutral(sample):
        assert found.get(request.path) is not row
    else:
        assert found[request.path] is row


@pytest.mark.parametrize(
    ("row", "sample"), [case for case in SAMPLES if case.values[0].path not in NAMED_BY_ANOTHER]
)
def test_responses_does_with_every_row_what_it_says(row: Parameter, sample: Any) -> None:
    request = request_for(row, sample)
    for features in (EVERYTHING, DEFAULT, *([NOTHING] if row.feature else [])):
        said = named(request.body, features)
        if row.path in REFUSED_BY_DECODING:
            assert len(said["refused"]) == 1
            continue
        if row.plain or row.is_neutral(sample):
            assert all(request.path not in paths for paths in said.values())
            continue
        if row.rule is not None:  # tested one by one
            continue
        if "refused" in said and request.path not in said["refused"]:
            continue  # what stands around it was refused first
        carried = row.feature is None or row.feature in features
        disposition = row.disposition if carried else row.without
        if disposition is Disposition.FORWARDED:
            assert all(request.path not in paths for paths in said.values())
        else:
            assert request.path in said[disposition.value]
