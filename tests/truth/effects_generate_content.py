"""generateContent: the effects that its rows claim beyond a wire field, and how the wire spells its samples."""

from __future__ import annotations

from dataclasses import replace

from app.ledger import Parameter
from tests.truth.checks import (
    connected,
    names_the_session,
    offers,
    pairs,
    says,
    stops,
    thinking,
    told,
    unchanged,
    withheld,
)
from tests.truth.documents_generate_content import SEALED
from tests.truth.proof import Check, Seen
from tests.truth.stage import Stage
from tests.truth.wire import at


def vouches(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """Under Candor's seal the thought goes out; with anybody else's it does not."""
    for each in connected(seen, "switched on"):
        ours = each.case.sample == SEALED["thoughtSignature"]
        assert at(each.answer.wire, "messages[].reasoning") == (["marked"] if ours else [])


def framed(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """``sse`` streams events; without it a stream is one JSON array."""
    for each in connected(seen):
        events = stage.ask(surface, each.case, house=each.house, stream=True)
        assert events.headers["content-type"].startswith("text/event-stream")
        array = stage.ask(surface, replace(each.case, query={}), house=each.house, stream=True)
        assert array.headers["content-type"].startswith("application/json")
        assert len(array.body) == len(events.frames)


def admits(stage: Stage, surface: str, row: Parameter, seen: list[Seen]) -> None:
    """The right key admits, any other does not."""
    for key, status in (("right", 200), ("wrong", 401)):
        case = replace(seen[0].case, query={"key": key})
        assert stage.with_switches(surface, case, CANDOR_API_KEYS="right").status == status


_PART = "contents[].parts[]"
_HISTORY = {
    "executableCode": ("language", "code"),
    "codeExecutionResult": ("outcome", "output"),
    "toolCall": ("toolType", "args"),
    "toolResponse": ("toolType", "response"),
}
_MODE = "toolConfig.functionCallingConfig"
_JSON = "Answer with one JSON object and nothing else."

EFFECTS: dict[str, Check] = {
    "sessionId": names_the_session,
    f"{_PART}.thoughtSignature": vouches,
    f"{_PART}.functionResponse.name": pairs,
    **{f"{_PART}.{kind}.{key}": told("messages[].text") for kind, keys in _HISTORY.items() for key in keys},
    **{f"{_PART}.{kind}.id": unchanged for kind in _HISTORY},
    "systemInstruction.role": unchanged,
    "toolConfig": unchanged,
    _MODE: unchanged,
    f"{_MODE}.mode=MODE_UNSPECIFIED": unchanged,
    f"{_MODE}.mode=AUTO": unchanged,
    f"{_MODE}.mode=NONE": withheld,
    f"{_MODE}.allowedFunctionNames": offers(["f"], ["f", "g"]),
    "generationConfig.stopSequences": stops,
    "generationConfig.thinkingConfig": thinking(bool),
    "generationConfig.thinkingConfig.includeThoughts": thinking(bool),
    "generationConfig.responseFormat": says("system_prompt", _JSON),
    "generationConfig.responseFormat[].text": says("system_prompt", _JSON),
    "model": unchanged,
    "query:alt": framed,
    "query:key": admits,
}

SPELT: dict[str, tuple[str, ...]] = {
    "contents[].role=user": ("1", "1"),
    "contents[].role=model": ("2", "2"),
    "contents[].role=function": ("4", "4"),
    f"{_PART}.thought": ("marked",),
    f"{_PART}.functionResponse": ("1", "2"),
    f"{_MODE}.mode=ANY": ("required",),
    f"{_MODE}.mode=VALIDATED": ("True",),
    "generationConfig.responseMimeType": (_JSON,),
    "generationConfig.responseFormat[].text.mimeType": (_JSON, _JSON),
}
