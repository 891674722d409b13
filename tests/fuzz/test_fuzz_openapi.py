"""docs/openapi.yaml lists every route, and what schemathesis makes of it never meets a defect."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.surfaces import OPENAPI, bounded, check_reply, described, routed, surface_of

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import schemathesis
    from schemathesis import GenerationMode

    SCHEMA = schemathesis.openapi.from_dict(OPENAPI)

OPERATIONS = [result.ok() for result in SCHEMA.get_all_operations()]


def test_every_route_of_the_app_is_described_and_nothing_else(fuzz_app: Flask) -> None:
    assert routed(fuzz_app) == described()


def send(client: FlaskClient, operation: Any, case: Any) -> None:
    """One request as schemathesis would send it."""
    sent = case.as_transport_kwargs(base_url="http://localhost")
    reply = client.open(
        sent["url"].removeprefix("http://localhost"),
        method=case.method,
        query_string=sent.get("params"),
        headers=dict(sent.get("headers") or {}),
        **({"json": sent["json"]} if "json" in sent else {"data": sent.get("data")}),
    )
    check_reply(surface_of(operation.path), reply)
    if case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE:
        assert reply.status_code < 500 or reply.status_code in (502, 503, 529), reply.data


@pytest.mark.parametrize(
    "mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["meant", "malformed"]
)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_requests_made_from_the_description_meet_no_defect(
    operation: Any, mode: GenerationMode, fuzz_client: FlaskClient
) -> None:
    examples = 12 if operation.method.lower() == "post" else 4

    @bounded(examples)
    @given(data=st.data())
    def run(data: st.DataObject) -> None:
        try:
            strategy = operation.as_strategy(generation_mode=mode)
        except schemathesis.errors.SchemathesisError:
            return
        send(fuzz_client, operation, data.draw(strategy))

    if mode is GenerationMode.NEGATIVE and not (
        operation.body or operation.query or operation.path_parameters
    ):
        return  # nothing in it can be malformed
    run()
