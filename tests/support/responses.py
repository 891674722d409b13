"""Short words for tests of responses: decode a body, judge it, encode events, check every object strictly."""

from __future__ import annotations

import itertools
from typing import Any

import orjson
import pytest
from openai.types.responses import Response, ResponseStreamEvent

from app.seals import Seals
from app.surfaces import responses
from app.surfaces.responses.encode import ResponsesEncoder
from app.surfaces.responses.encode_reply import reply_body
from app.surfaces.surface import ReplyFacts, SurfaceTools
from app.turn.events import Event, Finished
from app.turn.faults import TurnFault
from app.turn.features import Feature
from app.turn.fold import Fold
from tests.support.judging import Judging
from tests.support.strict import check, check_event

SEALS = Seals(b"a key for tests")
SURFACE = responses.create(SurfaceTools(SEALS))
EVERYTHING = frozenset(Feature)
NOTHING: frozenset[Feature] = frozenset()
DEFAULT = EVERYTHING - {
    # what the connect upstream lacks while its switches are off
    Feature.TOOL_CHOICE,
    Feature.DISABLE_PARALLEL_TOOL_CALLS,
    Feature.TEMPERATURE_ZERO,
    Feature.TOOLS_WITHOUT_SYSTEM,
    Feature.REASONING_HISTORY,
    Feature.TOOL_ERROR_FLAG,
    Feature.STRUCTURED_OUTPUT,
    Feature.PROMPT_CACHE,
    Feature.SESSION_KEY,
}
CREATED_S, DONE_S = 1_700_000_000, 1_700_000_009
PNG = "data:image/png;base64,iVBORw0KGgo="
FINISHED = Finished("stop")
LOCAL_SHELL_CALL = {
    "type": "local_shell_call",
    "id": "lsh_1",
    "call_id": "call_1",
    "action": {"type": "exec", "command": ["ls", "-l"], "env": {}, "timeout_ms": None},
    "status": "completed",
}


def body(*items: Any, **keys: Any) -> dict[str, Any]:
    """A request that says hi, or the ``items``, with ``keys`` beside or instead."""
    return {"model": "m", "input": list(items) or "hi", **keys}


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(content) or "hi"}


def function(name: str = "f", **more: Any) -> dict[str, Any]:
    return {"type": "function", "name": name, "parameters": None, "strict": None, **more}


def custom(name: str = "c", **more: Any) -> dict[str, Any]:
    return {"type": "custom", "name": name, **more}


def namespace(name: str, *tools: Any) -> dict[str, Any]:
    return {"type": "namespace", "name": name, "description": "", "tools": list(tools)}


def call(call_id: str = "call_1", name: str = "f", arguments: str = "{}", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, **more}


def result(call_id: str = "call_1", output: Any = "1", **more: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": output, **more}


def reasoning(**more: Any) -> dict[str, Any]:
    return {"type": "reasoning", "id": "rs_1", "summary": [], **more}


_JUDGING = Judging(SURFACE, DEFAULT)
decode = _JUDGING.decode
refused = _JUDGING.refused
findings = _JUDGING.findings


def headers(request: dict[str, Any], features: frozenset[Feature] = DEFAULT) -> dict[str, str]:
    """The two headers that ``request`` gets."""
    return dict(findings(request, features).headers())


def refusal(
    request: dict[str, Any],
    features: frozenset[Feature] = DEFAULT,
    *,
    strict: bool = False,
    switch: str | None = None,
) -> dict[str, Any]:
    """The error of the 400 in which the ledger refuses ``request``."""
    with pytest.raises(TurnFault) as caught:
        findings(request, features, strict=strict, switch=switch)
    reply = SURFACE.fault_reply(caught.value, "req_1")
    assert reply.status == 400
    error: dict[str, Any] = orjson.loads(reply.body)["error"]
    return error


def facts(request: dict[str, Any], features: frozenset[Feature] = DEFAULT) -> ReplyFacts:
    return ReplyFacts(decode(request), findings(request, features), "req_1", CREATED_S)


def _ids() -> Any:
    counter = itertools.count(1)
    return lambda prefix: prefix if prefix == "resp_" else f"{prefix}{next(counter)}"


def encoder(request: dict[str, Any], features: frozenset[Feature] = DEFAULT) -> ResponsesEncoder:
    return ResponsesEncoder(facts(request, features), SEALS, new_id=_ids(), now=lambda: DONE_S)


def events_of(stream: bytes) -> list[dict[str, Any]]:
    """The events of ``stream``, after checking framing, names, sequence numbers and every object."""
    frames = stream.decode().split("\n\n")
    assert frames.pop() == ""
    events = []
    for number, frame in enumerate(frames):
        name, _, data = frame.partition("\n")
        assert data.startswith("data: ")
        event = orjson.loads(data[6:])
        assert name == f"event: {event['type']}"
        assert event["sequence_number"] == number
        check_event(ResponseStreamEvent, data[6:])
        events.append(event)
    return events


def stream(
    request: dict[str, Any], *batches: list[Event], features: frozenset[Feature] = DEFAULT
) -> list[dict[str, Any]]:
    """The checked events of a whole stream."""
    writer = encoder(request, features)
    return events_of(writer.opening(None) + b"".join(writer.feed(batch) for batch in batches))


def reply(
    request: dict[str, Any], *batches: list[Event], features: frozenset[Feature] = DEFAULT
) -> dict[str, Any]:
    """The checked body of a reply that is not streamed."""
    fold = Fold()
    for batch in batches:
        fold.feed(batch)
    text = reply_body(facts(request, features), fold.reply, SEALS, new_id=_ids(), now=lambda: DONE_S)
    check(Response, text.decode())
    said: dict[str, Any] = orjson.loads(text)
    return said


def outputs(
    request: dict[str, Any], *batches: list[Event], features: frozenset[Feature] = DEFAULT
) -> list[dict[str, Any]]:
    """The output items, which must be the same streamed and not, ids and seals apart."""
    streamed = stream(request, *batches, features=features)[-1]["response"]["output"]
    whole = reply(request, *batches, features=features)["output"]
    assert [_without_id(item) for item in streamed] == [_without_id(item) for item in whole]
    return [_without_id(item) for item in streamed]


def _without_id(item: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key != "id"}


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"].removeprefix("response.") for event in events]
