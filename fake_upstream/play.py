"""Steps -> bytes on the client's socket.

The response head goes out with the first step that has bytes to send. Steps before it that only wait
(``sleep_ms``) hold it back, as a server that has said nothing yet; so do those that only set a mode
(``dribble_bytes``, ``one_packet``, ``frame``), and under ``one_packet`` it is part of the one write.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Callable, Sequence
from typing import assert_never

from app.upstreams.connect import wire_pb2
from fake_upstream import connect_wire
from fake_upstream.captures import Outcome
from fake_upstream.connect_wire import end_of_stream, envelope, error_json
from fake_upstream.http_reply import LAST_CHUNK, chunks, stream_head, whole
from fake_upstream.steps import (
    CreditCost,
    Cut,
    Dribble,
    End,
    Error,
    Finish,
    Frame,
    HttpError,
    OnePacket,
    Quota,
    Raw,
    Reasoning,
    Sleep,
    Step,
    Text,
    ToolArgs,
    ToolCallStart,
    Usage,
)  # fmt: skip

PlainStep = Text | Reasoning | Usage | Quota | CreditCost | Finish

_HANG_UP = select.POLLRDHUP | select.POLLHUP | select.POLLERR


class ClientClosed(Exception):
    """The client went away."""


class ClientSocket:
    """The client's socket: writes whole or in dribbles, waits with an eye on the client."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._poll = select.poll()
        self._poll.register(sock, _HANG_UP)
        self._packet: bytearray | None = None
        self._write_size: int | None = None

    def dribble(self, size: int) -> None:
        self._write_size = size

    def hold(self) -> None:
        """From here on keep everything for one write, which ``flush`` makes."""
        if self._packet is None:
            self._packet = bytearray()

    def write(self, data: bytes) -> None:
        if self._packet is not None:
            self._packet += data
            return
        self.wait(0)
        self._send(data)

    def flush(self) -> None:
        if self._packet:
            data, self._packet = bytes(self._packet), bytearray()
            self.wait(0)
            self._sendall(data)

    def wait(self, seconds: float) -> None:
        """Wait, but not for a client that has gone: then ``ClientClosed``, at once."""
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            if self._poll.poll(max(0.0, left) * 1000):
                raise ClientClosed
            if left <= 0:
                return

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def _send(self, data: bytes) -> None:
        size = self._write_size or len(data) or 1
        for start in range(0, len(data), size):
            self._sendall(data[start : start + size])

    def _sendall(self, data: bytes) -> None:
        try:
            self._sock.sendall(data)
        except OSError:
            raise ClientClosed from None


class Player:
    """Plays one scenario on one response. ``play`` says whether the connection can serve another request."""

    def __init__(self, steps: Sequence[Step], sock: socket.socket, settle: Callable[[Outcome], None]) -> None:
        self._steps = _with_end(steps)
        self._client = ClientSocket(sock)
        self._settle = settle
        self._result: Outcome = "completed"
        self._head: bytes = stream_head(gzip=any(isinstance(s, Frame) and s.gzip for s in steps))
        self._chunk_size: int | None = None
        self._gzip = False
        self._ids: dict[int, str | None] = {}
        self._last_index: int | None = None

    def play(self) -> bool:
        try:
            return self._play()
        except ClientClosed:
            self._settle("client_closed")
            return False

    def _play(self) -> bool:
        for position, step in enumerate(self._steps):
            match step:
                case HttpError():
                    self._settle("failed")
                    self._client.write(http_error(step))
                    return True
                case Sleep():
                    self._client.wait(step.ms / 1000)
                case Dribble():
                    self._chunk_size = step.size
                    self._client.dribble(step.size)
                case OnePacket():
                    self._client.hold()
                case Frame():
                    self._gzip = step.gzip
                case Cut():
                    self._result = "failed"
                    if step.clean:
                        break
                    self._finish(b"")
                    self._client.close()
                    return False
                case _:
                    data = chunks(self._body(step), self._chunk_size)
                    if position == len(self._steps) - 1:
                        self._finish(data + LAST_CHUNK)
                        return True
                    self._client.write(self._take_head() + data)
        self._finish(LAST_CHUNK)
        return True

    def _finish(self, data: bytes) -> None:
        """The last write. The outcome is settled just before, so that who has read the end finds it."""
        self._client.wait(0)
        self._settle(self._result)
        self._client.write(self._take_head() + data)
        self._client.flush()

    def _take_head(self) -> bytes:
        head, self._head = self._head, b""
        return head

    def _body(self, step: PlainStep | ToolCallStart | ToolArgs | End | Error | Raw) -> bytes:
        """The bytes of one step, before the chunked encoding."""
        match step:
            case Raw():
                if connect_wire.ends_stream(step.data) is None:
                    self._result = "failed"
                return step.data
            case End():
                return end_of_stream(compress=self._gzip)
            case Error():
                self._result = "failed"
                return self._error(step)
            case ToolCallStart():
                self._ids[step.index] = step.id
                self._last_index = step.index
                return self._call_frame(wire_pb2.ToolCall(id=step.id or "", name=step.name or ""))
            case ToolArgs():
                return self._call_frame(self._fragment(step))
            case _:
                return self._frame(plain_message(step))

    def _frame(self, message: wire_pb2.GetChatMessageResponse) -> bytes:
        return envelope(message.SerializeToString(), compress=self._gzip)

    def _call_frame(self, call: wire_pb2.ToolCall) -> bytes:
        return self._frame(wire_pb2.GetChatMessageResponse(tool_calls=[call]))

    def _fragment(self, step: ToolArgs) -> wire_pb2.ToolCall:
        """Arguments carry the call's id only when the call is not the one last sent."""
        id = step.id
        if id is None and step.index != self._last_index:
            id = self._ids.get(step.index)
        self._last_index = step.index
        return wire_pb2.ToolCall(
            id=id or "",
            name=step.name or "",
            arguments_json=step.fragment,
            invalid_json=step.invalid_json or "",
        )

    def _error(self, step: Error) -> bytes:
        details = list(step.details)
        metadata = None
        if step.retry_after_s is not None:
            details.append(connect_wire.retry_info(step.retry_after_s))
            metadata = {"retry-after": [connect_wire.plain_number(step.retry_after_s)]}
        return end_of_stream(error_json(step.code, step.message, details), metadata, compress=self._gzip)


def plain_message(step: PlainStep) -> wire_pb2.GetChatMessageResponse:
    """The frame of a step that needs to know nothing of the steps before it."""
    message = wire_pb2.GetChatMessageResponse()
    match step:
        case Text():
            message.text = step.text
        case Reasoning():
            message.reasoning = step.text
        case Usage():
            message.usage.fresh = step.fresh
            message.usage.completion = step.completion
            message.usage.cache_read = step.cache_read
            message.usage.cache_write = step.cache_write
        case Quota():
            message.quota_basis_points = step.basis_points
        case CreditCost():
            message.credit_cost = step.cost
        case Finish():
            message.finish = step.number
        case _:
            assert_never(step)
    return message


def _with_end(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps, with the end-of-stream envelope appended when nothing in them ends the stream."""
    for step in steps:
        if isinstance(step, (End, Error, Cut, HttpError)):
            return tuple(steps)
        if isinstance(step, Raw) and connect_wire.ends_stream(step.data):
            return tuple(steps)
    return (*steps, End())


def http_error(step: HttpError) -> bytes:
    """A whole HTTP response with a Connect error as JSON; the step's headers win over the usual ones."""
    body = connect_wire.json_bytes(error_json(step.code, step.message, step.details))
    return whole(step.status, body, step.headers)
