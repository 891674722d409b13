"""Bodies of real clients with something wrong in them at any depth: served or refused, never a defect.

And what is unknown in them is never dropped in silence.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fake_upstream import FakeUpstream
from tests.matrix import asking
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, SURFACES, Json
from tests.matrix.test_matrix_malformed import assert_told

CLIENTS = Path(__file__).parents[1] / "data/clients"
FORWARD = {"CANDOR_UNKNOWN_MODELS": "forward"}
Place = tuple[str | int, ...]


def surface_of(path: str) -> str:
    prefixes = {
        "/v1/chat": CHAT,
        "/v1/responses": RESPONSES,
        "/v1/messages": MESSAGES,
        "/v1beta/": GENERATE,
        "/v1/models": GENERATE,
    }
    return next(surface for prefix, surface in prefixes.items() if path.startswith(prefix))


def slim(body: Json) -> Json:
    """``body`` with two tools at the most, and none of it streamed: mutations should hit what matters."""
    body.pop("stream", None)
    body.pop("stream_options", None)
    if "functionDeclarations" in (body.get("tools") or [{}])[0]:
        body["tools"] = [{"functionDeclarations": body["tools"][0]["functionDeclarations"][:2]}]
    elif "tools" in body:
        body["tools"] = body["tools"][:2]
    return body


def samples() -> Iterator[tuple[str, Json]]:
    """(path, body) of every recorded request and of a small one of each surface."""
    for file in sorted(CLIENTS.glob("*.json")):
        recorded = json.loads(file.read_text())
        url = recorded["path"].replace(":streamGenerateContent", ":generateContent")
        yield url, slim(recorded["body"])
    for surface in SURFACES:
        yield asking.path(surface), asking.body(surface, **asking.tools(surface, "f"))


SAMPLES = list(samples())


def places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Where every value inside ``value`` stands."""
    if place:
        yield place
    steps: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for step, inner in steps:
        yield from places(inner, (*place, step))


def at(value: Any, place: Place) -> Any:
    for step in place:
        value = value[step]
    return value


ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    2**53,
    2**64 - 1,
    -(2**63),
    1e308,
    "",
    "x",
    "\x00",
    "a" * 3000,
    [],
    {},
    [[]],
    [{}],
    [None],
    {"": 1},
    {"a": {"b": [{}]}},
    {"type": None},
    {"type": []},
    {"type": {}},
    {"type": "text"},
    {"type": "text", "text": 5},
    {"type": "function"},
    {"role": "user"},
    [{"type": "text", "text": None}],
    "data:image/png;base64,AAAA",
]
KEYS = ["zz", "", "type", "role", "content", "id", "name", "text", "source", "status", "a.b[0]", "é\n"]


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, Json]:
    """A sample with one to three changes: a value replaced, removed, repeated, moved or added."""
    url, body = copy.deepcopy(draw(st.sampled_from(SAMPLES)))
    for _ in range(draw(st.integers(1, 3))):
        found = list(places(body))
        if not found:
            break
        place = draw(st.sampled_from(found))
        holder, step = at(body, place[:-1]), place[-1]
        match draw(st.sampled_from(["replace", "replace", "replace", "remove", "repeat", "move", "add"])):
            case "replace":
                holder[step] = copy.deepcopy(draw(st.sampled_from(ODD)))
            case "remove":
                del holder[step]
            case "repeat" if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[step]))
            case "add" if isinstance(holder, dict):
                holder[draw(st.sampled_from(KEYS))] = copy.deepcopy(draw(st.sampled_from(ODD)))
            case _:
                holder[step] = copy.deepcopy(at(body, draw(st.sampled_from(found))))
    return url, body


def post(app: Flask, url: str, body: Json) -> Any:
    reply = app.test_client().post(url, json=body)
    if reply.status_code == 200:
        assert reply.content_type == "application/json"
    else:
        assert reply.status_code in (400, 404), (reply.text, url, json.dumps(body)[:4000])
        assert_told(surface_of(url), reply)
    return reply


@settings(
    max_examples=700,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(request=mutated())
def test_a_body_with_anything_wrong_in_it_is_served_or_refused_in_the_surfaces_words(
    standing: Callable[..., Flask], request: tuple[str, Json]
) -> None:
    post(standing(**FORWARD), *request)


def test_nothing_that_replaces_a_top_level_value_is_a_defect(standing: Callable[..., Flask]) -> None:
    app = standing(**FORWARD)
    for url, body in SAMPLES[-4:]:
        for key in body:
            for value in ODD:
                post(app, url, {**body, key: value})


def path_of(place: Place) -> str:
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


DATA = {
    # what is a schema, an argument or a result is data: its keys are not parameters
    "parameters",
    "parametersJsonSchema",
    "input_schema",
    "schema",
    "args",
    "response",
    "input",
}


def objects(body: Json) -> Iterator[Place]:
    yield ()
    for place in places(body):
        names = {step for step in place[1:] if isinstance(step, str)}
        if isinstance(at(body, place), dict) and not names & DATA:
            yield place


@pytest.mark.parametrize(
    ("url", "body"), SAMPLES, ids=[f"{number} {url}" for number, (url, _) in enumerate(SAMPLES)]
)
def test_an_unknown_field_at_any_depth_is_named_or_refused(
    standing: Callable[..., Flask], fake: FakeUpstream, url: str, body: Json
) -> None:
    app = standing(**FORWARD)
    for place in objects(body):
        changed = copy.deepcopy(body)
        at(changed, place)["zz_unknown"] = 1
        reply = post(app, url, changed)
        if reply.status_code == 200:
            named = reply.headers["x-candor-ignored"].split(", ")
            above = {path_of((*place, "zz_unknown")[:length]) for length in range(1, len(place) + 2)}
            assert above & set(named), (path_of(place), named)
