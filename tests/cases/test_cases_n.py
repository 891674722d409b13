"""N, the HTTP edge: C88, C90, C91, C93."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from tests.matrix import asking
from tests.matrix.answers import named_events
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, SURFACES, ask

NUMBERS = ("C88", "C90", "C91", "C93")
KEYED = {"CANDOR_API_KEYS": "first-key,second-key", "CANDOR_LOG_LEVEL": "DEBUG"}
PLACES = [
    {"Authorization": "Bearer first-key"},
    {"authorization": "bearer first-key"},
    {"x-api-key": "first-key"},
    {"x-goog-api-key": "first-key"},
    {"x-goog-api-key": "first-key", "Authorization": "Bearer first-key"},
]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("headers", PLACES, ids=lambda headers: "+".join(headers))
def test_c88_a_key_is_taken_from_any_of_its_places_on_every_surface(
    standing: Callable[..., Flask], surface: str, headers: dict[str, str], stream: bool
) -> None:
    assert ask(standing(**KEYED), surface, headers=headers, stream=stream).status_code == 200


@pytest.mark.parametrize("version", ["v1beta", "v1"])
def test_c88_a_key_in_the_query_is_taken_on_generate_content_and_never_logged(
    make_app: Callable[..., Flask], capsys: pytest.CaptureFixture[str], version: str
) -> None:
    url = f"/{version}/models/fake-echo:generateContent?key=second-key"

    reply = make_app(**KEYED).test_client().post(url, json=asking.body(GENERATE))

    assert reply.status_code == 200
    assert "second-key" not in capsys.readouterr().err


@pytest.mark.parametrize("surface", [CHAT, RESPONSES, MESSAGES])
def test_c88_a_key_in_the_query_is_not_taken_elsewhere(standing: Callable[..., Flask], surface: str) -> None:
    url = f"{asking.path(surface)}?key=first-key"

    assert standing(**KEYED).test_client().post(url, json=asking.body(surface)).status_code == 401


@pytest.mark.parametrize("surface", SURFACES)
def test_c88_two_keys_that_differ_are_a_401_though_both_are_known(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str
) -> None:
    headers = {"x-api-key": "first-key", "Authorization": "Bearer second-key"}

    reply = ask(standing(**KEYED), surface, headers=headers)

    assert reply.status_code == 401
    assert reply.headers["x-should-retry"] == "false"
    assert fake.captures() == []


def get(app: Flask, url: str, **headers: str) -> Any:
    begun = time.monotonic()
    reply = app.test_client().get(url, headers={k.replace("_", "-"): v for k, v in headers.items()})
    assert time.monotonic() - begun < 3
    return reply


def test_c90_models_have_three_shapes_by_who_asks(standing: Callable[..., Flask]) -> None:
    app = standing()

    anthropic = get(app, "/v1/models?limit=1000", anthropic_version="2023-06-01").json
    assert anthropic.keys() == {"data", "has_more", "first_id", "last_id"}
    assert anthropic["has_more"] is False
    assert {"type", "id", "display_name", "created_at"} <= anthropic["data"][0].keys()
    openai = get(app, "/v1/models").json
    assert openai["object"] == "list"
    assert openai["data"][0].keys() >= {"id", "object", "created", "owned_by"}
    google = get(app, "/v1beta/models").json
    assert google["models"][0]["name"].startswith("models/")
    assert "generateContent" in google["models"][0]["supportedGenerationMethods"]
    shared = get(app, "/v1/models", x_goog_api_key="k").json
    assert shared["models"][0]["name"].startswith("models/")


@pytest.mark.parametrize(
    ("url", "headers", "key", "value"),
    [
        ("/v1/models/fake-echo", {}, "id", "fake-echo"),
        ("/v1/models/fake-echo", {"anthropic_version": "2023-06-01"}, "type", "model"),
        ("/v1beta/models/fake-echo", {}, "name", "models/fake-echo"),
    ],
)
def test_c90_one_model_is_told_in_the_callers_dialect(
    standing: Callable[..., Flask], url: str, headers: dict[str, str], key: str, value: str
) -> None:
    assert get(standing(), url, **headers).json[key] == value


@pytest.mark.parametrize(
    ("url", "headers", "error"),
    [
        ("/v1/models/nope", {}, {"type": "invalid_request_error", "code": "model_not_found"}),
        ("/v1/models/nope", {"anthropic_version": "2023-06-01"}, {"type": "not_found_error"}),
        ("/v1beta/models/nope", {}, {"status": "NOT_FOUND", "code": 404}),
    ],
)
def test_c90_an_unknown_model_is_a_404_in_the_callers_dialect(
    standing: Callable[..., Flask], url: str, headers: dict[str, str], error: dict[str, Any]
) -> None:
    reply = get(standing(), url, **headers)

    assert reply.status_code == 404
    assert error.items() <= reply.json["error"].items()


COUNT = {
    MESSAGES: ("/v1/messages/count_tokens?beta=true", "input_tokens"),
    GENERATE: ("/v1beta/models/fake-echo:countTokens", "totalTokens"),
    RESPONSES: ("/v1/responses/input_tokens", "input_tokens"),
}


@pytest.mark.parametrize("surface", COUNT)
def test_c91_counting_grows_with_system_and_tools_and_runs_no_turn(
    app: Flask, fake: FakeUpstream, surface: str
) -> None:
    url, key = COUNT[surface]
    bare = asking.body(surface)
    if surface == MESSAGES:
        del bare["max_tokens"]
    with_system = {**bare, **asking.system(surface, "S" * 1000)}
    with_tools = {**with_system, **asking.tools(surface, "f")}

    counts = []
    for body in (bare, with_system, with_tools):
        reply = app.test_client().post(url, json=body)
        assert reply.status_code == 200
        counts.append(reply.json[key])

    assert counts[0] == 5
    assert counts[1] == 255
    assert counts[2] > 260
    assert fake.captures() == []
    assert f'usage_estimated_total{{surface="{surface}"}} 3.0' in app.test_client().get("/metrics").text


def test_c91_generate_content_counts_a_whole_request_too(standing: Callable[..., Flask]) -> None:
    wrapped = {"generateContentRequest": {"model": "models/fake-echo", **asking.body(GENERATE)}}

    reply = standing().test_client().post("/v1beta/models/fake-echo:countTokens", json=wrapped)

    assert reply.json["totalTokens"] == 5


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_c93_a_previous_response_that_is_not_there_is_a_400(
    standing: Callable[..., Flask], fake: FakeUpstream, stream: bool
) -> None:
    reply = ask(standing(), RESPONSES, stream=stream, previous_response_id="resp_x")

    assert reply.status_code == 400
    error = reply.json["error"]
    assert (error["param"], error["code"]) == ("previous_response_id", "previous_response_not_found")
    assert fake.captures() == []


@pytest.mark.parametrize(
    ("keys", "param"),
    [
        ({"input": [{"type": "item_reference", "id": "rs_1"}]}, "input[0]"),
        ({"background": True}, "background"),
        ({"conversation": "conv_1"}, "conversation"),
        ({"prompt": {"id": "pmpt_1"}}, "prompt"),
    ],
)
def test_c93_what_is_kept_elsewhere_is_refused(
    standing: Callable[..., Flask], fake: FakeUpstream, keys: dict[str, Any], param: str
) -> None:
    reply = ask(standing(), RESPONSES, **keys)

    assert reply.status_code == 400
    assert reply.json["error"]["param"].startswith(param)
    assert fake.captures() == []


def test_c93_what_is_not_stored_says_so(standing: Callable[..., Flask]) -> None:
    assert ask(standing(), RESPONSES, store=False).json["store"] is False


LABELS = {f"key{number}": "v" * 512 for number in range(16)}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("labels", [{"k": "v"}, LABELS, {"k" * 64: ""}, {}])
def test_c93_labels_are_echoed_wherever_the_response_is(
    standing: Callable[..., Flask], labels: dict[str, str], stream: bool
) -> None:
    reply = ask(standing(), RESPONSES, stream=stream, store=False, metadata=labels)

    assert reply.status_code == 200
    bodies = [reply.json]
    if stream:
        events = [json.loads(data) for _, data in named_events(reply.text)]
        bodies = [event["response"] for event in events if "response" in event]
        assert len(bodies) == 3
    assert [body["metadata"] for body in bodies] == [labels] * len(bodies)


@pytest.mark.parametrize("surface", [CHAT, RESPONSES])
@pytest.mark.parametrize(
    "labels",
    [
        {f"key{number}": "" for number in range(17)},
        {"k" * 65: "v"},
        {"k": "v" * 513},
        {"k": 1},
        {"k": None},
        [],
        "k",
    ],
)
def test_c93_labels_beyond_their_bounds_are_refused(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, labels: Any
) -> None:
    reply = ask(standing(), surface, metadata=labels)

    assert reply.status_code == 400
    assert reply.json["error"]["param"].startswith("metadata")
    assert fake.captures() == []
