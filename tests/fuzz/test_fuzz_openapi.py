"""docs/openapi.yaml lists every route, and what schemathesis makes of it never meets a defect."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.endings import check_stream
from tests.fuzz.stored import KEPT, Stored
from tests.fuzz.surfaces import OPENAPI, bounded, check_reply, described, routed, surface_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import schemathesis
    from schemathesis import GenerationMode

    SCHEMA = schemathesis.openapi.from_dict(OPENAPI)

OPERATIONS = [result.ok() for result in SCHEMA.get_all_operations()]


def test_every_route_of_the_app_is_described_and_nothing_else(fuzz_app: Flask) -> None:
    assert routed(fuzz_app) == described()


def send(client: FlaskClient, operation: Any, case: Any) -> int:
    """One request as schemathesis would send it, and the status of its reply."""
    sent = case.as_transport_kwargs(base_url="http://localhost")
    reply = client.open(
        sent["url"].removeprefix("http://localhost"),
        method=case.method,
        query_string=sent.get("params"),
        headers=dict(sent.get("headers") or {}),
        **({"json": sent["json"]} if "json" in sent else {"data": sent.get("data")}),
    )
    surface = surface_of(operation.path)
    check_reply(surface, reply)
    if case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE:
        assert reply.status_code < 500 or reply.status_code in (502, 503, 529), reply.data
    if reply.mimetype == "text/event-stream" and "starting_after" not in case.query:
        check_stream(surface, reply.data)
    return reply.status_code


def get_behind_the_lookup(case: Any, parameter: str, stored: Stored, data: st.DataObject) -> None:
    """Ask for an object that is there, and perhaps for a part of its list that is there."""
    case.path_parameters[parameter] = stored.id_of(parameter)
    if "after" in case.query and data.draw(st.booleans()):
        case.query["after"] = stored.place_in(parameter)


@pytest.mark.parametrize(
    "mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["meant", "malformed"]
)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_requests_made_from_the_description_meet_no_defect(
    operation: Any, mode: GenerationMode, fuzz_client: FlaskClient, stored: Stored
) -> None:
    parameter = next((name for name in KEPT if f"{{{name}}}" in operation.path), None)
    examples = 12 if operation.method.lower() == "post" or parameter else 4
    strategy = operation.as_strategy(generation_mode=mode)
    statuses: list[int] = []
    behind: list[int] = []

    @bounded(examples)
    @given(data=st.data())
    def run(data: st.DataObject) -> None:
        case = data.draw(strategy)
        is_behind = parameter is not None and data.draw(st.booleans())
        if parameter is not None and is_behind:
            get_behind_the_lookup(case, parameter, stored, data)
        status = send(fuzz_client, operation, case)
        (behind if is_behind else statuses).append(status)

    run()
    assert statuses or behind
    if parameter is not None:
        assert behind
        assert 404 not in behind
        if mode is GenerationMode.POSITIVE:
            assert (400 if operation.path.endswith("/cancel") else 200) in behind
