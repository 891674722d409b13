"""Bodies, methods and URLs that mean nothing: the surface's own words, its own content type, never a defect."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

from fake_upstream import FakeUpstream
from fake_upstream import scenarios as s
from tests.matrix import asking
from tests.matrix.answers import read
from tests.matrix.asking import CHAT, GENERATE, MESSAGES, RESPONSES, SURFACES, ask, path

KEYS = {CHAT: {"error"}, RESPONSES: {"error"}, MESSAGES: {"type", "error", "request_id"}, GENERATE: {"error"}}
ERROR_KEYS = {
    CHAT: {"message", "type", "param", "code"},
    RESPONSES: {"message", "type", "param", "code"},
    MESSAGES: {"type", "message"},
    GENERATE: {"code", "message", "status"},
}
ROUTES = {
    "chat": (CHAT, "/v1/chat/completions"),
    "responses": (RESPONSES, "/v1/responses"),
    "input_tokens": (RESPONSES, "/v1/responses/input_tokens"),
    "messages": (MESSAGES, "/v1/messages"),
    "count_tokens": (MESSAGES, "/v1/messages/count_tokens?beta=true"),
    "generateContent": (GENERATE, "/v1beta/models/fake-echo:generateContent"),
    "streamGenerateContent": (GENERATE, "/v1beta/models/fake-echo:streamGenerateContent?alt=sse"),
    "streamGenerateContent, array": (GENERATE, "/v1/models/fake-echo:streamGenerateContent"),
    "countTokens": (GENERATE, "/v1beta/models/fake-echo:countTokens"),
}
each_route = pytest.mark.parametrize(("surface", "url"), ROUTES.values(), ids=ROUTES.keys())


def assert_told(surface: str, reply: Any) -> None:
    """The body is the surface's error object and nothing else."""
    assert reply.content_type == "application/json"
    assert reply.json.keys() == KEYS[surface]
    error = reply.json["error"]
    assert error.keys() - {"details"} == ERROR_KEYS[surface]
    assert error["message"]
    assert reply.headers["x-request-id"] == reply.headers["request-id"]
    assert "Traceback" not in reply.text
    assert "<html" not in reply.text.lower()
    if surface == GENERATE:
        assert error["code"] == reply.status_code
    if surface == MESSAGES:
        assert reply.json["request_id"] == reply.headers["request-id"]


BODIES: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n",
    "null": b"null",
    "an array": b"[]",
    "a string": b'"hi"',
    "a number": b"1",
    "true": b"true",
    "half an object": b'{"model":"fake-echo"',
    "two objects": b"{} {}",
    "a trailing comma": b'{"model":"fake-echo",}',
    "single quotes": b"{'model':'fake-echo'}",
    "a comment": b"{} // no",
    "NaN": b'{"temperature":NaN}',
    "Infinity": b'{"temperature":-Infinity}',
    "a number beyond all bounds": b'{"model":"fake-echo","max_tokens":' + b"9" * 5000 + b"}",
    "an exponent beyond all bounds": b'{"model":"fake-echo","temperature":1e999}',
    "a control character": b'{"model":"a\x01b"}',
    "a lone surrogate, escaped": b'{"model":"\\ud800"}',
    "a lone surrogate, raw": b'{"model":"\xed\xa0\x80"}',
    "Latin-1": b'{"model":"caf\xe9"}',
    "UTF-16": '{"model":"fake-echo"}'.encode("utf-16"),
    "a byte order mark": b'\xef\xbb\xbf{"model":"fake-echo"}',
    "every byte": bytes(range(256)),
    "a form": b"model=fake-echo&messages=hi",
    "a list nested 100,000 deep": b'{"model":"fake-echo","zz":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "an object nested 50,000 deep": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "a list that never ends": b'{"messages":' + b"[" * 200_000,
}


@each_route
@pytest.mark.parametrize("data", BODIES.values(), ids=BODIES.keys())
def test_a_body_that_is_no_request_is_a_400_in_the_surfaces_words(
    standing: Callable[..., Flask], fake: FakeUpstream, data: bytes, surface: str, url: str
) -> None:
    reply = standing().test_client().post(url, data=data, content_type="application/json")

    assert reply.status_code == 400
    assert_told(surface, reply)
    assert fake.captures() == []


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/octet-stream", None])
def test_a_body_is_read_as_json_whatever_its_content_type_says(
    standing: Callable[..., Flask], surface: str, content_type: str | None
) -> None:
    data = json.dumps(asking.body(surface)).encode()

    reply = standing().test_client().post(path(surface), data=data, content_type=content_type)

    assert read(surface, reply.data, stream=False).text == "hi"


@pytest.mark.parametrize("surface", SURFACES)
def test_of_a_key_that_is_there_twice_the_last_holds(standing: Callable[..., Flask], surface: str) -> None:
    key = "contents" if surface == GENERATE else "input" if surface == RESPONSES else "messages"
    data = json.dumps(asking.body(surface)).replace(f'"{key}":', f'"{key}": "no", "{key}":', 1)

    reply = standing().test_client().post(path(surface), data=data, content_type="application/json")

    assert read(surface, reply.data, stream=False).text == "hi"


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize(
    "text", ["x" * 3_000_000, "\x00\x01\x7f", "\ufeff\u2028\ufffe", "🌍" * 1000, "\\u0000"]
)
def test_odd_and_enormous_text_goes_through_whole_both_ways(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, text: str, stream: bool
) -> None:
    fake.queue([s.text(text), s.finish()])

    reply = ask(standing(), surface, stream=stream, says=text)

    assert fake.captures()[0]["message"]["messages"][0]["text"] == text
    assert read(surface, reply.data, stream=stream).text == text


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
def test_a_thousand_unknown_fields_are_served_and_the_header_stays_short(
    make_app: Callable[..., Flask], surface: str, stream: bool
) -> None:
    app = make_app(CANDOR_LOG_LEVEL="ERROR")
    unknown = {f"field_{number:04}": number for number in range(1000)}

    reply = ask(app, surface, stream=stream, **unknown)

    assert reply.status_code == 200
    header = reply.headers["x-candor-ignored"]
    assert len(header) <= 1024
    assert header.startswith("field_0000, field_0001, ")
    kept = header.split(", ")
    assert kept[-1] == f"+{1000 - (len(kept) - 1)}"
    metrics = app.test_client().get("/metrics").text
    assert metrics.count("\nparameters_ignored_total{") <= 201
    assert f'parameters_ignored_total{{parameter="other",surface="{surface}"}} 800.0' in metrics


HOSTILE = {
    "a\r\nx-evil: 1": "a%0D%0Ax-evil:%201",
    "\n": "%0A",
    "a, b": "a%2C%20b",
    "naïve": "na%C3%AFve",
    "\x00": "%00",
    "100%": "100%25",
    "~": "%7E",
    '"': "%22",
    "🌍": "%F0%9F%8C%8D",
    "<script>": "%3Cscript%3E",
}


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_field_name_cannot_break_out_of_its_header(
    standing: Callable[..., Flask], surface: str, name: str, stream: bool
) -> None:
    reply = ask(standing(), surface, stream=stream, **{name: 1})

    assert reply.status_code == 200
    assert reply.headers["x-candor-ignored"] == HOSTILE[name]
    assert "x-evil" not in reply.headers


@pytest.mark.parametrize("surface", SURFACES)
def test_an_enormous_field_name_is_served_within_the_headers_bound(
    standing: Callable[..., Flask], surface: str
) -> None:
    reply = ask(standing(), surface, **{"n" * 100_000: 1})

    assert reply.status_code == 200
    assert reply.headers["x-candor-ignored"] == "+1"


@each_route
@pytest.mark.parametrize("method", ["PUT", "PATCH", "TRACE", "BREW"])
def test_a_wrong_method_is_a_405_in_the_surfaces_words(
    standing: Callable[..., Flask], surface: str, url: str, method: str
) -> None:
    reply = standing().test_client().open(url, method=method, data=b"{")

    assert reply.status_code == 405
    assert_told(surface, reply)
    assert "POST" in reply.headers["Allow"]
    assert reply.headers["x-should-retry"] == "false"


@each_route
def test_options_tells_the_methods_without_a_body(
    standing: Callable[..., Flask], surface: str, url: str
) -> None:
    reply = standing().test_client().options(url)

    assert (reply.status_code, reply.data) == (204, b"")
    assert "POST" in reply.headers["Allow"]
    assert reply.headers["x-request-id"]


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
@pytest.mark.parametrize(
    "name", ["input_tokens", "messages", "count_tokens", "generateContent", "countTokens"]
)
def test_reading_where_turns_are_posted_is_a_405(
    standing: Callable[..., Flask], name: str, method: str
) -> None:
    surface, url = ROUTES[name]

    reply = standing().test_client().open(url, method=method)

    if name == "input_tokens":  # the path of a stored response
        assert reply.status_code in (404, 405)
    else:
        assert reply.status_code == 405
    if method == "HEAD":
        assert reply.data == b""
    else:
        assert_told(surface, reply)


URLS: list[tuple[str, str, int]] = [
    (MESSAGES, "/v1/messages/", 404),
    (MESSAGES, "/v1/messages//count_tokens", 404),
    (MESSAGES, "/v1/messages/batches", 404),
    (CHAT, "/v1/chat/completions/", 404),
    (CHAT, "/v1/chat", 404),
    (CHAT, "/V1/messages", 404),
    (CHAT, "/", 404),
    (RESPONSES, "/v1/responses/", 404),
    (RESPONSES, "/v1/responses/compact", 404),
    (GENERATE, "/v1beta/models/", 404),
    (GENERATE, "/v1beta/models/:generateContent", 404),
    (GENERATE, "/v1beta/models/fake-echo:", 405),
    (GENERATE, "/v1beta/models/fake-echo", 405),
    (GENERATE, "/v1beta/models/fake-echo:foo", 404),
    (GENERATE, "/v1beta/models/fake-echo:GENERATECONTENT", 404),
    (GENERATE, "/v1beta/models/fake-echo:batchGenerateContent", 404),
    (GENERATE, "/v1/models/fake-echo:embedContent", 404),
    (GENERATE, "/v1beta/models/fake-echo:generateContent:generateContent", 404),
    (GENERATE, "/v1beta/models/a%2Fb:generateContent", 404),
    (GENERATE, "/v1beta/models/..%2F..%2Fetc:generateContent", 404),
    (GENERATE, "/v1beta/models/fake%00echo:generateContent", 404),
    (GENERATE, "/v1beta/models/%ff:generateContent", 404),
    (GENERATE, "/v1beta/models/%0d%0ax-evil:%201:generateContent", 404),
    (GENERATE, f"/v1beta/models/{'a' * 5000}:generateContent", 404),
    (GENERATE, "/v1beta/models/<script>:generateContent", 404),
    (GENERATE, "/v1beta/tunedModels/x:generateContent", 404),
    (GENERATE, "/v1beta/cachedContents", 404),
    (GENERATE, "/v1beta/models/fake-echo:streamGenerateContent?alt=foo", 400),
]


@pytest.mark.parametrize(("surface", "url", "status"), URLS)
def test_a_url_that_leads_nowhere_is_told_in_the_words_of_its_prefix(
    standing: Callable[..., Flask], fake: FakeUpstream, surface: str, url: str, status: int
) -> None:
    reply = standing().test_client().post(url, json=asking.body(GENERATE))

    assert reply.status_code == status
    assert_told(surface, reply)
    assert len(reply.data) < 1000
    assert "x-evil" not in reply.headers
    assert fake.captures() == []


@pytest.mark.parametrize(
    "url",
    [
        "/v1beta/models/fake-echo%3AgenerateContent",
        "/v1beta/models/models/fake-echo:generateContent",
        "/v1beta/models/models%2Ffake-echo:generateContent",
        "/v1beta/models/fake-echo:generateContent?alt=json",
        "/v1/models/fake-echo:generateContent?key=",
    ],
)
def test_generate_content_understands_urls_that_clients_spell_otherwise(
    standing: Callable[..., Flask], url: str
) -> None:
    reply = standing().test_client().post(url, json=asking.body(GENERATE))

    assert read(GENERATE, reply.data, stream=False).text == "hi"


def test_many_callers_at_once_each_get_their_own_answer(
    standing: Callable[..., Flask], fake: FakeUpstream
) -> None:
    app = standing()

    def one(number: int) -> bool:
        surface, stream = SURFACES[number % 4], number % 3 == 0
        own = {f"unknown_{number}": 1}
        reply = ask(app, surface, stream=stream, says=f"caller {number}", **own)
        assert reply.headers["x-candor-ignored"] == f"unknown_{number}"
        return read(surface, reply.data, stream=stream).text == f"caller {number}"

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(one, range(160)))
    assert len(fake.captures()) == 160
