"""What the tests of the Messages surface share."""

from __future__ import annotations

import json
from types import SimpleNamespace

from app.ledger import Context, Findings, judge
from app.seals import Seals
from app.surfaces import messages
from app.surfaces.messages.decode import Echo
from app.surfaces.surface import Decoded, ReplyFacts, RequestFacts, SurfaceTools
from app.turn.features import Feature
from app.turn.tool_choice import plan
from app.turn.turn import Turn

SEALS = Seals(b"a key for tests")
SURFACE = messages.create(SurfaceTools(SEALS))
ALL = frozenset(Feature)
DEFAULT = ALL - {
    # what the connect upstream lacks while its switches are off
    Feature.TOOL_CHOICE,
    Feature.DISABLE_PARALLEL_TOOL_CALLS,
    Feature.TEMPERATURE_ZERO,
    Feature.TOOLS_WITHOUT_SYSTEM,
    Feature.REASONING_HISTORY,
    Feature.TOOL_ERROR_FLAG,
    Feature.STRUCTURED_OUTPUT,
    Feature.PROMPT_CACHE,
}
TOOL = {
    "name": "f",
    "description": "does f",
    "input_schema": {"type": "object", "properties": {"x": {"type": "string"}}},
}


def body(*content, **fields):
    """A body whose one user message has the blocks ``content`` (or says hi)."""
    said = [{"role": "user", "content": list(content) or "hi"}]
    return {"model": "m", "max_tokens": 50, "messages": said, **fields}


def conversation(*messages, **fields):
    """A body of (role, content) pairs."""
    return body(messages=[{"role": role, "content": content} for role, content in messages], **fields)


def decode(request, headers=None):
    """Walk and decode, as the pipeline does."""
    SURFACE.ledger.walk(request)
    return SURFACE.decode(request, RequestFacts(headers or {}))


def findings(request, features=DEFAULT, *, headers=None, strict=False) -> Findings:
    """Walk, decode and judge, as the pipeline does."""
    observations = SURFACE.ledger.walk(request)
    decoded = SURFACE.decode(request, RequestFacts(headers or {}))
    turn = decoded.turn
    context = Context(
        turn,
        features,
        lambda feature: "DEVIN_CONNECT_SWITCH=1",
        plan(turn.tool_choice, turn.tools, carries_choice=Feature.TOOL_CHOICE in features),
    )
    return judge(
        SURFACE.ledger, observations, decoded.notes, request, context, strict=strict, strict_rows=frozenset()
    )


def headers_of(request, features=DEFAULT, **options) -> SimpleNamespace:
    """The two headers of a request, ``""`` for one that is not sent."""
    said = dict(findings(request, features, **options).headers())
    return SimpleNamespace(
        ignored=said.get("x-candor-ignored", ""), emulated=said.get("x-candor-emulated", "")
    )


def facts(*, manages_context=False) -> ReplyFacts:
    """What an encoder is told of a request for the model ``m``."""
    decoded = Decoded(Turn("m", []), echo=Echo("m", manages_context))
    return ReplyFacts(decoded, Findings(), "req_1", 0)


def events_of(stream: bytes) -> list[tuple[str, dict]]:
    """(name, data) of each event of a stream, which must consist of such events and nothing else."""
    events = []
    for frame in stream.decode().removesuffix("\n\n").split("\n\n"):
        first, second = frame.split("\n")
        assert first.startswith("event: ")
        assert second.startswith("data: ")
        events.append((first[7:], json.loads(second[6:])))
    return events


def message_of(fault) -> str:
    """How the surface words ``fault``."""
    return json.loads(SURFACE.fault_reply(fault, "req_1").body)["error"]["message"]
