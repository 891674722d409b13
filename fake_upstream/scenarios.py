"""Builders of scenario steps, so that tests read well, and the queue of scenarios that wait for a request.

A builder returns the JSON step itself: the same list works with ``FakeUpstream.queue`` and with
``POST /_fake/scenarios``.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.upstreams.connect import wire_pb2
from fake_upstream.connect_wire import envelope
from fake_upstream.steps import Step, StepError, parse_steps

JsonStep = dict[str, Any]


def text(value: str) -> JsonStep:
    return {"text": value}


def reasoning(value: str) -> JsonStep:
    return {"reasoning": value}


def tool_call(index: int, id: str | None = None, name: str | None = None) -> JsonStep:
    return {"tool_call": {"index": index, **_given(id=id, name=name)}}


def tool_args(
    index: int,
    fragment: str = "",
    *,
    id: str | None = None,
    name: str | None = None,
    invalid_json: str | None = None,
) -> JsonStep:
    given = _given(id=id, name=name, invalid_json=invalid_json)
    return {"tool_args": {"index": index, "fragment": fragment, **given}}


def usage(fresh: int = 0, completion: int = 0, cache_read: int = 0, cache_write: int = 0) -> JsonStep:
    return {
        "usage": {
            "fresh": fresh,
            "completion": completion,
            "cache_read": cache_read,
            "cache_write": cache_write,
        }
    }


def quota(basis_points: int) -> JsonStep:
    return {"quota_basis_points": basis_points}


def credit_cost(cost: float) -> JsonStep:
    return {"credit_cost": cost}


def finish(number: int = 2) -> JsonStep:
    return {"finish": number}


def sleep(ms: int) -> JsonStep:
    return {"sleep_ms": ms}


def end() -> JsonStep:
    return {"end": True}


def error(
    code: str,
    message: str = "",
    retry_after_s: float | None = None,
    details: Sequence[Mapping[str, Any]] | None = None,
) -> JsonStep:
    given = _given(retry_after_s=retry_after_s, details=list(details) if details else None)
    return {"error": {"code": code, "message": message, **given}}


def http_error(
    status: int,
    code: str,
    message: str = "",
    headers: Mapping[str, str] | None = None,
    details: Sequence[Mapping[str, Any]] | None = None,
) -> JsonStep:
    given = _given(headers=dict(headers) if headers else None, details=list(details) if details else None)
    return {"http_error": {"status": status, "code": code, "message": message, **given}}


def cut() -> JsonStep:
    return {"cut": True}


def cut_clean() -> JsonStep:
    return {"cut": "clean"}


def raw(data: bytes) -> JsonStep:
    return {"raw_hex": data.hex()}


def raw_frame(message: wire_pb2.GetChatMessageResponse) -> JsonStep:
    """One frame with this very message: several fragments at once, text beside usage, and the like."""
    return raw(envelope(message.SerializeToString()))


def dribble(size: int = 1) -> JsonStep:
    return {"dribble_bytes": size}


def one_packet() -> JsonStep:
    return {"one_packet": True}


def gzip_frames(on: bool = True) -> JsonStep:
    return {"frame": {"gzip": on}}


def _given(**values: object) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}


@dataclass(slots=True)
class Scenario:
    """Steps, for how many more requests (``None``: for ever), and for which requests."""

    id: str
    steps: tuple[Step, ...]
    left: int | None
    model: str | None
    token: str | None

    def fits(self, model: str, token: str) -> bool:
        return self.model in (None, model) and self.token in (None, token)


class ScenarioQueue:
    """Scenarios in the order they came; the first that fits a request serves it. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._waiting: list[Scenario] = []

    def add(self, steps: object, times: object = 1, match: object = None) -> str:
        """Queue a scenario and return its id; a ``StepError`` says what is wrong with it."""
        parsed = parse_steps(steps)
        if not isinstance(times, int) or isinstance(times, bool) or times < 0:
            raise StepError("times: must be an integer of 0 or more")
        model, token = _parse_match(match)
        with self._lock:
            scenario = Scenario(f"scenario_{next(self._ids)}", parsed, times or None, model, token)
            self._waiting.append(scenario)
        return scenario.id

    def add_json(self, body: object) -> str:
        """The same from the body of ``POST /_fake/scenarios``."""
        if not isinstance(body, dict):
            raise StepError("the body must be an object")
        for key in body:
            if key not in ("steps", "times", "match"):
                raise StepError(f"unknown key '{key}'")
        if "steps" not in body:
            raise StepError("steps: is missing")
        return self.add(body["steps"], body.get("times", 1), body.get("match"))

    def take(self, model: str, token: str) -> tuple[Step, ...] | None:
        """The steps for this request, or ``None`` when nothing that is queued fits."""
        with self._lock:
            for position, scenario in enumerate(self._waiting):
                if not scenario.fits(model, token):
                    continue
                if scenario.left is not None:
                    scenario.left -= 1
                    if not scenario.left:
                        del self._waiting[position]
                return scenario.steps
        return None

    def clear(self) -> None:
        with self._lock:
            self._waiting.clear()


def _parse_match(match: object) -> tuple[str | None, str | None]:
    if match is None:
        return None, None
    if not isinstance(match, Mapping):
        raise StepError("match: must be an object")
    for key, value in match.items():
        if key not in ("model", "token"):
            raise StepError(f"match: unknown key '{key}'")
        if not isinstance(value, str):
            raise StepError(f"match: '{key}' must be a string")
    return match.get("model"), match.get("token")
