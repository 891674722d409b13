"""Which call a function response answers, where protocol and clients may leave ids out."""

from __future__ import annotations

import hashlib
from collections import deque

from app.turn.faults import invalid


def made_up_id(place: str, name: str) -> str:
    """The id of a call that came without one: the same place and name always give the same id."""
    return "call_" + hashlib.sha256(f"{place}\n{name}".encode()).hexdigest()[:24]


class CallPairing:
    """Told of every call and response in order, it says which id each has.

    An id is an id; what has none is paired per name, in order. A response whose id no call has is paired by name
    too, with a call that came without an id: clients make ids up for calls that they got without.
    ``lenient`` accepts responses without their call, as ``countTokens`` is sent a conversation's last turn alone.
    """

    def __init__(self, *, lenient: bool = False) -> None:
        self._lenient = lenient
        self._open: dict[str, deque[str]] = {}
        self._names: dict[str, str] = {}
        self._anonymous: set[str] = set()

    def call(self, sent_id: str | None, name: str, place: str) -> str:
        """The id of a call at ``place``, which differs for every call of a request."""
        call_id = sent_id or made_up_id(place, name)
        if not sent_id:
            self._anonymous.add(call_id)
        self._open.setdefault(name, deque()).append(call_id)
        self._names[call_id] = name
        return call_id

    def response(self, sent_id: str | None, name: str, path: str) -> str:
        """The id of the call that a response at ``path`` answers. Raises an INVALID_REQUEST fault for none."""
        open_ids = self._open.get(name, deque())
        if sent_id:
            return self._by_id(sent_id, name, open_ids)
        if open_ids:
            return open_ids.popleft()
        if self._lenient:
            return made_up_id(path, name)
        raise invalid(f"no unanswered call of the function '{name[:100]}' comes before this response", path)

    def _by_id(self, sent_id: str, name: str, open_ids: deque[str]) -> str:
        called_name = self._names.get(sent_id)
        if called_name is not None:
            if sent_id in self._open[called_name]:
                self._open[called_name].remove(sent_id)
            return sent_id
        for call_id in open_ids:
            if call_id in self._anonymous:
                open_ids.remove(call_id)
                return call_id
        return sent_id
