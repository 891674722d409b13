"""What goes out, name by name, and what cannot: headers, features, limits, the user JWT, field numbers."""

from __future__ import annotations

import socket
import struct
from pathlib import Path

import pytest
import responses

from app.settings import SettingsError
from app.turn.faults import FaultKind, TurnFault
from app.turn.features import Feature
from app.turn.turn import Sampling
from app.upstreams import Lease
from app.upstreams.connect import ConnectUpstream
from app.upstreams.connect.http1 import ResponseReader
from tests.upstreams.kit import END, HEAD, Answer, NoSocket, RawServer, chunk, frame, run, settings, turn

BASE = "http://upstream.test"


@responses.activate
@pytest.mark.parametrize(("gzip", "coding"), [(False, {}), (True, {"Connect-Content-Encoding": "gzip"})])
def test_the_headers_of_a_request(gzip: bool, coding: dict[str, str]) -> None:
    responses.post(
        f"{BASE}/exa.api_server_pb.ApiServerService/GetChatMessage",
        body=frame(text="a", finish=2) + END,
        content_type="application/connect+proto",
    )
    run(ConnectUpstream(settings(BASE, connect_gzip=gzip)))
    request = responses.calls[0].request
    assert dict(request.headers) == {
        "Content-Type": "application/connect+proto",
        "Connect-Protocol-Version": "1",
        "Connect-Accept-Encoding": "gzip",
        "Accept-Encoding": "identity",
        "User-Agent": "candor/1.0.0",
        "Authorization": "Bearer dev-token",
        "Content-Length": str(len(request.body or b"")),
        **coding,
    }


def test_every_switch_adds_its_feature_and_takes_none_away() -> None:
    plain = ConnectUpstream(settings(BASE)).features
    every = ConnectUpstream(
        settings(
            BASE,
            connect_tool_choice=True,
            connect_reasoning=True,
            connect_prompt_cache=True,
            session_from="caller",
        )
    ).features
    assert every - plain == {
        Feature.TOOL_CHOICE,
        Feature.DISABLE_PARALLEL_TOOL_CALLS,
        Feature.REASONING_HISTORY,
        Feature.PROMPT_CACHE,
        Feature.SESSION_KEY,
    }
    assert plain - every == set()
    assert len(plain) == 8


@pytest.mark.parametrize(
    ("sampling", "problem"),
    [
        (Sampling(max_output_tokens=2**32), "the output token limit must be from 0 to 4294967295"),
        (Sampling(max_output_tokens=-1), "the output token limit must be from 0 to 4294967295"),
        (Sampling(top_k=2**32), "top-k must be from 0 to 4294967295"),
    ],
)
def test_a_number_that_the_wire_cannot_hold_is_the_callers_fault(sampling: Sampling, problem: str) -> None:
    with pytest.raises(TurnFault) as caught:
        run(ConnectUpstream(settings(BASE)), turn(sampling=sampling))
    assert (caught.value.kind, caught.value.problem) == (FaultKind.INVALID_REQUEST, problem)


@pytest.mark.parametrize("token", ["two\nlines", "snow\N{SNOWMAN}man"])
def test_a_token_that_no_header_can_hold_is_told_without_the_token(token: str) -> None:
    asked = turn()
    with RawServer() as server, pytest.raises(TurnFault) as caught:
        ConnectUpstream(settings(server.url)).open(asked, asked.model, Lease("first", token), NoSocket())
    assert (caught.value.kind, caught.value.problem) == (
        FaultKind.INTERNAL,
        "the upstream token cannot stand in an HTTP header",
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xff\xfe", "the file cannot be read: it is not ASCII text"),
        (None, "the file cannot be read: No such file or directory"),
        (b" \n", "the file is empty"),
    ],
)
def test_a_bad_user_jwt_file_stops_the_start(tmp_path: Path, data: bytes | None, words: str) -> None:
    path = tmp_path / "jwt"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(SettingsError) as caught:
        ConnectUpstream(settings(BASE, connect_user_jwt=str(path)))
    assert str(caught.value) == f"DEVIN_CONNECT_USER_JWT={str(path)!r}: {words}"


def test_a_field_number_below_one_is_told() -> None:
    with pytest.raises(SettingsError) as caught:
        ConnectUpstream(settings(BASE, connect_tool_choice_tags={"choice": 0}))
    assert str(caught.value).endswith("choice=0 is not a field number: they start at 1")


def reset_after(*sent: bytes) -> Answer:
    def answer(connection: socket.socket) -> None:
        for part in sent:
            connection.sendall(part)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    return answer


def test_a_reset_before_any_answer_is_told_as_one() -> None:
    with RawServer(reset_after()) as server, pytest.raises(TurnFault) as caught:
        run(ConnectUpstream(settings(server.url)))
    assert caught.value.kind is FaultKind.UPSTREAM_FAILED
    assert caught.value.problem in (
        "the upstream broke the connection before it answered",
        "the upstream could not be reached",
    )


def head(*lines: str, version: str = "1.1") -> ResponseReader:
    reader = ResponseReader()
    reader.feed(("\r\n".join([f"HTTP/{version} 200 OK", *lines]) + "\r\n\r\n").encode("latin-1"))
    return reader


def test_a_header_is_split_at_its_first_colon_and_stripped_of_blanks() -> None:
    reader = head("X-At:\t 10:30:00 \t", "X-At: again", "content-length: 3")
    assert reader.headers == {"x-at": "10:30:00, again", "content-length": "3"}
    assert reader.fault is None


@pytest.mark.parametrize("line", ["no colon", "bad name: x", ": no name"])
def test_a_header_without_a_name_is_broken(line: str) -> None:
    fault = head(line).fault
    assert fault is not None
    assert (fault.kind, fault.problem) == (
        FaultKind.UPSTREAM_FAILED,
        "the upstream sent a malformed header line",
    )


@pytest.mark.parametrize(
    ("version", "lines", "kept"),
    [
        ("1.1", [], True),
        ("1.1", ["connection: Close"], False),
        ("1.0", [], False),
        ("1.0", ["connection: Keep-Alive"], True),
    ],
)
def test_a_connection_outlives_its_answer_as_version_and_header_say(
    version: str, lines: list[str], kept: bool
) -> None:
    reader = head("content-length: 0", *lines, version=version)
    assert (reader.complete, reader.keep_alive) == (True, kept)


def test_no_length_and_a_length_beside_chunks_end_the_connection() -> None:
    assert head().keep_alive is False
    assert head("transfer-encoding: chunked", "content-length: 3").keep_alive is False
    assert head("transfer-encoding: chunked").keep_alive is True


def test_a_head_in_pieces_is_found_wherever_it_is_cut() -> None:
    whole = HEAD + chunk(b"body")
    for cut in range(1, len(HEAD)):
        reader = ResponseReader()
        assert reader.feed(whole[:cut]) == b""
        assert reader.feed(whole[cut:]) == b"body"
