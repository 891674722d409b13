"""Request bodies and heads as real clients send them: compressed, long, too long."""

from __future__ import annotations

import gzip
import json
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
import zstandard

from fake_upstream import FakeUpstream
from tests.support.caller import SURFACES, Caller, ask
from tests.support.servers import Gunicorn, gunicorn

MIB = 1 << 20
TOO_LARGE = {
    "chat_completions": lambda error: error["code"] == "request_too_large",
    "responses": lambda error: error["code"] == "request_too_large",
    "messages": lambda error: error["type"] == "request_too_large",
    "generate_content": lambda error: error["status"] == "INVALID_ARGUMENT",
}


@pytest.fixture(scope="module")
def candor(shared_fake: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gunicorn]:
    """Candor with default settings."""
    with gunicorn(tmp_path_factory.mktemp("bodies"), shared_fake.url, CANDOR_WORKERS="1") as running:
        yield running


@pytest.mark.parametrize(
    ("encoding", "compress"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("zstd", zstandard.ZstdCompressor().compress)],
)
@pytest.mark.parametrize("surface", SURFACES)
def test_a_compressed_body_is_read(
    surface: str, encoding: str, compress: Callable[[bytes], bytes], candor: Gunicorn, fake: FakeUpstream
) -> None:
    path, body = ask(surface, stream=False)
    with Caller(candor.url) as caller:
        caller.post(path, compress(json.dumps(body).encode()), {"content-encoding": encoding})
        assert caller.status() == 200
        caller.rest()
    assert fake.captures()[-1]["message"]["messages"][-1]["text"] == "hi"


def test_an_unknown_encoding_is_a_415_that_names_the_known_ones(candor: Gunicorn) -> None:
    with Caller(candor.url).post("/v1/messages", b"x", {"content-encoding": "br"}) as caller:
        assert caller.status() == 415
        assert caller.header("accept-encoding") == "gzip, deflate, zstd"
        assert caller.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_a_bomb_is_a_413_and_its_connection_lives_on(encoding: str, candor: Gunicorn) -> None:
    zeros = bytes(200 * MIB)
    bomb = gzip.compress(zeros) if encoding == "gzip" else zstandard.ZstdCompressor().compress(zeros)
    with Caller(candor.url).post("/v1/chat/completions", bomb, {"content-encoding": encoding}) as caller:
        assert caller.status() == 413
        assert caller.json()["error"]["code"] == "request_too_large"
        assert caller.ask("chat_completions", stream=False).status() == 200


@pytest.mark.parametrize("surface", SURFACES)
def test_a_413_reaches_a_caller_that_is_still_sending_40_mb(surface: str, candor: Gunicorn) -> None:
    path, _ = ask(surface, stream=False)
    with Caller(candor.url) as caller:

        def send() -> None:
            with suppress(OSError):
                caller.post(path, b" " * (40 * MIB))

        sending = threading.Thread(target=send)
        sending.start()
        assert caller.status(20) == 413
        assert TOO_LARGE[surface](caller.json()["error"])
        sending.join(20)
        assert not sending.is_alive()


def test_a_chunked_body_is_bounded_as_well(candor: Gunicorn) -> None:
    with Caller(candor.url) as caller:
        fields = "host: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n"
        head = f"POST /v1/messages HTTP/1.1\r\n{fields}\r\n"
        piece = b"%x\r\n" % MIB + b" " * MIB + b"\r\n"
        with suppress(OSError):
            caller.sock.sendall(head.encode() + piece * 40 + b"0\r\n\r\n")
        assert caller.status(20) == 413
        assert caller.json()["error"]["type"] == "request_too_large"


def test_a_history_of_30_mb_is_served(candor: Gunicorn, fake: FakeUpstream) -> None:
    words = "All work and no play makes Jack a dull boy. " * 24_000
    messages = [
        {"role": role, "content": f"{number} {words}"}
        for number in range(14)
        for role in ("user", "assistant")
    ]
    body = {"model": "fake-tools", "messages": [*messages, {"role": "user", "content": "hi"}]}
    data = json.dumps(body).encode()
    assert 28 * MIB < len(data) < 32 * MIB

    with Caller(candor.url).post("/v1/chat/completions", data) as caller:
        assert caller.status(30) == 200
        assert caller.json(30)["choices"][0]["finish_reason"] == "stop"
    assert fake.captures()[-1]["envelope"]["length"] > 28 * MIB
    fake.clear()


def test_long_heads_are_taken(candor: Gunicorn, fake: FakeUpstream) -> None:
    path, body = ask("generate_content", stream=False)
    padding = "x" * (8100 - len(path))
    long = {"x-stainless-context": "y" * 60_000, **{f"x-header-{n}": "z" * 500 for n in range(150)}}
    with Caller(candor.url).post(f"{path}?padding={padding}", body, long) as caller:
        assert caller.status() == 200
        caller.rest()
    assert len(fake.captures()) == 1
