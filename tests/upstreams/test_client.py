"""The transport where something stands in for the adapter's ``send``, and over TLS."""

from __future__ import annotations

import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path

import pytest
import requests
import responses
import trustme

from app.turn.events import Finished, TextDelta
from app.turn.faults import ClientGone, FaultKind, TurnFault
from app.upstreams import Lease
from app.upstreams.connect import ConnectUpstream
from tests.upstreams.kit import END, HEAD, LEASE, NoSocket, RawServer, chunk, frame, run, settings, turn

BASE = "http://upstream.test"
URL = f"{BASE}/exa.api_server_pb.ApiServerService/GetChatMessage"
KIND = "application/connect+proto"


class Gone(NoSocket):
    def gone(self) -> bool:
        return True


@responses.activate
def test_an_ordinary_response_is_read_through_its_raw():
    responses.post(URL, body=frame(text="a") + frame(text="b", finish=2) + END, content_type=KIND)
    up = ConnectUpstream(settings(BASE, connect_authorization="Token {token}!"))
    assert run(up) == [TextDelta("a"), TextDelta("b"), Finished("stop")]
    request = responses.calls[0].request
    assert request.headers["Authorization"] == "Token dev-token!"
    assert request.headers["Content-Type"] == KIND
    assert request.headers["Connect-Protocol-Version"] == "1"
    assert request.headers["Content-Length"] == str(len(request.body))
    assert "Connect-Content-Encoding" not in request.headers
    assert request.body[0] == 0


@responses.activate
@pytest.mark.parametrize(
    "template",
    [
        "Keyed s3cr3t-tenant-7 {token}",
        "Keyed s3cr3t-tenant-7:{token}",
        'Keyed tenant="s3cr3t-tenant-7", key={token}',
    ],
)
def test_a_secret_inside_the_authorization_template_is_not_told(template):
    responses.post(
        URL, json={"code": "internal", "message": "Keyed s3cr3t-tenant-7 and dev-token failed"}, status=500
    )
    up = ConnectUpstream(settings(BASE, connect_authorization=template))
    with pytest.raises(TurnFault) as caught:
        run(up)
    assert caught.value.problem == "the upstream answered with an error: Keyed *** and *** failed"


@responses.activate
def test_a_compressed_request_says_so():
    responses.post(URL, body=END, content_type=KIND)
    run(ConnectUpstream(settings(BASE, connect_gzip=True)))
    request = responses.calls[0].request
    assert request.headers["Connect-Content-Encoding"] == "gzip"
    assert request.body[0] == 1


@responses.activate
def test_a_truncated_and_a_failed_answer_are_faults():
    up = ConnectUpstream(settings(BASE))
    for answer, kind in (
        ({"body": frame(finish=2), "content_type": KIND}, FaultKind.UPSTREAM_TRUNCATED),
        ({"json": {"code": "not_found", "message": "no model"}, "status": 404}, FaultKind.NOT_FOUND),
        ({"json": {"code": "permission_denied"}, "status": 403}, FaultKind.PERMISSION),
        ({"body": "<html>", "status": 401}, FaultKind.UPSTREAM_AUTHENTICATION),
    ):
        responses.upsert(responses.POST, URL, **answer)
        with pytest.raises(TurnFault) as caught:
            run(up)
        assert caught.value.kind is kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (requests.ConnectionError("http://10.0.0.1 refused"), FaultKind.UPSTREAM_FAILED),
        (requests.exceptions.SSLError("bad certificate"), FaultKind.UPSTREAM_FAILED),
        (requests.ConnectTimeout("slow"), FaultKind.UPSTREAM_TIMEOUT),
        (OSError("no CA bundle in /etc/secret"), FaultKind.UPSTREAM_FAILED),
        (TimeoutError(), FaultKind.UPSTREAM_TIMEOUT),
    ],
    ids=repr,
)
@responses.activate
def test_errors_of_the_transport_are_faults_that_quote_nothing(error, kind):
    responses.post(URL, body=error)
    with pytest.raises(TurnFault) as caught:
        run(ConnectUpstream(settings(BASE)))
    assert caught.value.kind is kind
    assert caught.value.problem in (
        "the upstream could not be reached",
        "the upstream did not accept a connection within 5 s",
        "the upstream did not take the request in time",
    )
    assert caught.value.__suppress_context__


@responses.activate
def test_a_caller_who_is_gone_is_noticed_without_a_socket():
    responses.post(URL, body=frame(text="a") + END, content_type=KIND)
    stream = ConnectUpstream(settings(BASE)).open(turn(), "m", LEASE, Gone())
    with pytest.raises(ClientGone):
        stream.read(None)
    stream.close()


def test_a_token_that_no_header_can_hold_is_a_fault_that_does_not_tell_it():
    with RawServer(b"") as server, pytest.raises(TurnFault) as caught:
        ConnectUpstream(settings(server.url)).open(turn(), "m", Lease("x", "tok\nsecret"), NoSocket())
    assert caught.value.kind is FaultKind.INTERNAL
    assert "tok" not in caught.value.problem.replace("token", "")


def test_over_tls_many_frames_in_one_record_come_out_and_the_connection_is_reused(
    tmp_path: Path, monkeypatch
):
    authority = trustme.CA()
    certificate = tmp_path / "authority.pem"
    authority.cert_pem.write_to_path(certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    texts = [f"{number} " * 2000 for number in range(20)]  # several TLS records, and more than one read
    whole = HEAD + b"".join(chunk(frame(text=text)) for text in texts) + chunk(END) + b"0\r\n\r\n"
    with RawServer(whole) as plain:
        proxied = _terminate_tls(context, plain)
        # requests passes its bundle of authorities when it verifies; this one knows our own alone.
        monkeypatch.setattr("requests.adapters.DEFAULT_CA_BUNDLE_PATH", str(certificate))
        up = ConnectUpstream(settings(f"https://localhost:{proxied}"))
        for _ in range(3):
            assert run(up) == [*(TextDelta(text) for text in texts), Finished("stop")]
        assert plain.connections == 1
        up.close()


def _terminate_tls(context: ssl.SSLContext, behind: RawServer) -> int:
    """Serve TLS for one connection to ``behind``; the port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def pump(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def serve() -> None:
        with (
            listener,
            context.wrap_socket(listener.accept()[0], server_side=True) as outer,
            socket.create_connection(("127.0.0.1", int(behind.url.rpartition(":")[2]))) as inner,
        ):
            inward = threading.Thread(target=pump, args=(outer, inner), daemon=True)
            inward.start()
            pump(inner, outer)
            inward.join(timeout=5)

    threading.Thread(target=serve, daemon=True).start()
    return int(listener.getsockname()[1])
