"""The HTTP server: which path does what, and the life of its connections."""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Collection, Iterable
from functools import partial
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fake_upstream import connect_wire, models, page
from fake_upstream.captures import CaptureStore, Received
from fake_upstream.connect_wire import RPC_PATH, Rejected, end_of_stream, error_json, json_bytes
from fake_upstream.http_body import BadBody, BodyTooLarge, read_body
from fake_upstream.http_reply import LAST_CHUNK, chunks, stream_head, whole
from fake_upstream.play import Player
from fake_upstream.scenarios import ScenarioQueue
from fake_upstream.steps import StepError

MAX_BODY_BYTES = connect_wire.MAX_MESSAGE_BYTES + 64 * 1024
"""Room for one whole envelope, and for the start of a second one that must not be there."""

DRAIN_SECONDS = 2.0


class Server(socketserver.ThreadingTCPServer):
    """Accepts connections until stopped; stopping closes every connection at once."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    request_queue_size = 1024

    def __init__(self, address: tuple[str, int], tokens: Collection[str] | None = None) -> None:
        self.tokens = None if tokens is None else frozenset(tokens)
        self.captures = CaptureStore()
        self.scenarios = ScenarioQueue()
        self._stopped = False
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        super().__init__(address, Handler)

    def serve(self) -> None:
        while True:
            try:
                client, address = self.get_request()
            except OSError:
                if self._stopped:
                    return
                time.sleep(0.01)  # out of file descriptors, most likely: others will be closed
                continue
            with self._lock:
                if self._stopped:
                    client.close()
                    return
                self._open.add(client)
            self.process_request(client, address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that resets its connection is no news; anything else is a bug, and shown."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def stop(self) -> None:
        with self._lock:
            if self._stopped:
                return
            self._stopped = True
            for sock in (self.socket, *self._open):
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    """One connection, request after request."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Server

    def handle_one_request(self) -> None:
        try:
            self.raw_requestline = self.rfile.readline(65537)
            if not self.raw_requestline:
                self.close_connection = True
            elif len(self.raw_requestline) > 65536:
                self.send_error(414)
            elif self.parse_request():
                self._serve()
        except ConnectionError:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are in the captures; the terminal stays quiet."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """A request line or headers that cannot be parsed."""
        self.close_connection = True
        self._reply(int(code), {"error": message or "bad request"}, [("connection", "close")])

    def _serve(self) -> None:
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            name = name.lower()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        path = urlsplit(self.path).path
        if self.headers.defects:
            return self.send_error(400, "malformed headers")
        try:
            body = read_body(self.rfile, headers, MAX_BODY_BYTES)
        except BadBody as error:
            return self.send_error(400, str(error))
        except BodyTooLarge:
            return self._refuse_unread(path, headers)
        if path == RPC_PATH:
            self._rpc(headers, body)
        else:
            self._control(path, body)

    # ---- the RPC

    def _rpc(self, headers: dict[str, str], body: bytes) -> None:
        if self.command != "POST":
            return self._wrong_method("POST")
        token = connect_wire.bearer(headers)
        raw, prefix = body, None
        try:
            token = connect_wire.check_headers(headers, self.server.tokens)
            envelope = connect_wire.read_envelope(headers, body)
            raw, prefix = envelope.payload, (envelope.flags, envelope.length)
            message = connect_wire.decode_request(raw, token)
        except Rejected as rejected:
            received = Received(self.path, headers, token, raw, prefix, error=str(rejected))
            self.server.captures.add(received, "rejected")
            return self._reject(rejected)
        capture = self.server.captures.add(Received(self.path, headers, token, raw, prefix, message))
        steps = self.server.scenarios.take(message.model, token)
        if steps is None:
            steps = models.steps_for(message)
        settle = partial(self.server.captures.settle, capture)
        if not Player(steps, self.connection, settle).play():
            self.close_connection = True

    def _reject(self, rejected: Rejected) -> None:
        error = error_json(rejected.code, rejected.message)
        if rejected.status is None:
            self._write(stream_head() + chunks(end_of_stream(error), None) + LAST_CHUNK)
        else:
            extra = [("accept-post", connect_wire.CONTENT_TYPE)] if rejected.status == 415 else []
            self._reply(rejected.status, error, extra)

    def _refuse_unread(self, path: str, headers: dict[str, str]) -> None:
        """A body beyond the bound: answer, then let the client finish sending so that it reads the answer."""
        self.close_connection = True
        rejected = connect_wire.too_large(int(headers.get("content-length", MAX_BODY_BYTES + 1)))
        if path == RPC_PATH:
            received = Received(self.path, headers, connect_wire.bearer(headers), b"", error=str(rejected))
            self.server.captures.add(received, "rejected")
            self._reject(rejected)
        else:
            self._reply(413, {"error": rejected.message})
        deadline = time.monotonic() + DRAIN_SECONDS
        self.connection.settimeout(0.2)
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while time.monotonic() < deadline and self.connection.recv(1 << 20):
                pass

    # ---- the control API

    def _control(self, path: str, body: bytes) -> None:
        match (self.command, path):
            case ("GET", "/_fake/health"):
                self._reply(200, {"status": "ok"})
            case ("GET", "/_fake" | "/_fake/"):
                self._show_page()
            case ("GET", "/_fake/captures"):
                self._list_captures()
            case ("DELETE", "/_fake/captures"):
                self.server.captures.clear()
                self._reply(204)
            case ("POST", "/_fake/scenarios"):
                self._add_scenario(body)
            case ("DELETE", "/_fake/scenarios"):
                self.server.scenarios.clear()
                self._reply(204)
            case (_, "/_fake/health" | "/_fake" | "/_fake/"):
                self._wrong_method("GET")
            case (_, "/_fake/captures"):
                self._wrong_method("GET, DELETE")
            case (_, "/_fake/scenarios"):
                self._wrong_method("POST, DELETE")
            case _:
                self._reply(404, {"error": f"nothing is at {path}"})

    def _list_captures(self) -> None:
        limit = None
        for value in parse_qs(urlsplit(self.path).query, keep_blank_values=True).get("limit", []):
            if not (value.isascii() and value.isdigit()):
                return self._reply(400, {"error": "limit: must be an integer of 0 or more"})
            limit = int(value)
        self._reply(200, [capture.as_json() for capture in self.server.captures.newest(limit)])

    def _show_page(self) -> None:
        captures = self.server.captures
        html = page.render(captures.newest(page.SHOWN), len(captures.newest()))
        headers = [("content-type", "text/html; charset=utf-8"), ("content-security-policy", page.POLICY)]
        self._write(whole(200, html, headers))

    def _add_scenario(self, body: bytes) -> None:
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            return self._reply(400, {"error": "the body is not JSON"})
        try:
            self._reply(201, {"id": self.server.scenarios.add_json(value)})
        except StepError as error:
            self._reply(400, {"error": str(error)})

    def _wrong_method(self, allow: str) -> None:
        self._reply(405, {"error": f"the method must be one of {allow}"}, [("allow", allow)])

    # ---- bytes

    def _reply(self, status: int, body: object = None, headers: Iterable[tuple[str, str]] = ()) -> None:
        self._write(whole(status, b"" if body is None else json_bytes(body) + b"\n", headers))

    def _write(self, data: bytes) -> None:
        self.connection.sendall(data)
