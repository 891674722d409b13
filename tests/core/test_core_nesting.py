"""What is nested more deeply than JSON can be written is a 400 that names it, and no turn is left running."""

from __future__ import annotations

import pytest
from flask import Flask

from app.factory import of
from app.surfaces.surface import StreamEncoder

DEEP = '{"a":' * 300 + "1" + "}" * 300
ITEM = '"input":[{"role":"user","content":"a"},%s]'
CHAT = '"messages":[{"role":"user","content":"a"}],'
SCHEMA = '"text":{"format":{"type":"json_schema","name":"n","schema":%s}},"input":"a"'


@pytest.mark.parametrize(
    ("path", "rest", "param"),
    [
        ("responses", SCHEMA % DEEP, "text.format.schema"),
        ("responses", SCHEMA % ('{"a":' * 252 + "1" + "}" * 252), "text.format.schema"),
        ("responses", f'"tools":[{{"type":"function","name":"f","parameters":{DEEP}}}],"input":"a"', None),
        ("responses", ITEM % f'{{"type":"web_search_call","id":"x","action":{DEEP}}}', None),
        ("responses", ITEM % f'{{"type":"shell_call","call_id":"c","action":{DEEP}}}', "input[1].action"),
        (
            "responses",
            ITEM % f'{{"type":"shell_call_output","call_id":"c","output":[{DEEP}]}}',
            "input[1].output",
        ),
        ("responses", ITEM % f'{{"type":"tool_search_call","call_id":"c","arguments":{DEEP}}}', None),
        (
            "chat/completions",
            f'{CHAT}"tools":[{{"type":"function","function":{{"name":"f","parameters":{DEEP}}}}}]',
            None,
        ),
        (
            "chat/completions",
            f'{CHAT}"response_format":{{"type":"json_schema","json_schema":{{"name":"n","schema":{DEEP}}}}}',
            "response_format.json_schema.schema",
        ),
    ],
)
@pytest.mark.parametrize("stream", ["true", "false"])
def test_what_is_nested_too_deeply_is_a_400(
    app: Flask, path: str, rest: str, param: str | None, stream: str
) -> None:
    body = f'{{"model":"fake-echo","stream":{stream},{rest}}}'
    reply = app.test_client().post(f"/v1/{path}", data=body)
    assert reply.status_code == 400, reply.get_data()
    error = reply.get_json()["error"]
    assert "nested too deeply" in error["message"]
    assert param is None or error["param"] == param


def test_an_encoder_that_cannot_begin_leaves_no_turn_running(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> StreamEncoder:
        raise ValueError("cannot begin")

    candor = of(app)
    monkeypatch.setattr(type(candor.surfaces["responses"]), "encoder", broken)
    body = {"model": "fake-echo", "input": "a", "stream": True}
    assert app.test_client().post("/v1/responses", json=body).status_code == 500
    assert candor.services.drain.running == 0
    assert candor.services.capacity.report()["tokens"][0]["in_flight"] == 0
