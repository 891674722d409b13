"""Which call a function response answers, where protocol and clients may leave ids out."""

from __future__ import annotations

import hashlib
from collections import OrderedDict, deque

from app.turn.faults import invalid


def made_up_id(place: str, name: str) -> str:
    """The id of a call that came without one: the same place and name always give the same id."""
    return "call_" + hashlib.sha256(f"{place}\n{name}".encode()).hexdigest()[:24]


class _Unanswered:
    """The calls of one function that nothing has answered yet. No step costs more for there being many.

    Calls are numbered in order: an id may be used again in a later turn, and then stands for the oldest.
    """

    def __init__(self) -> None:
        self._count = 0
        self._calls: OrderedDict[int, str] = OrderedDict()
        self._anonymous: OrderedDict[int, str] = OrderedDict()
        self._numbers: dict[str, deque[int]] = {}

    def add(self, call_id: str, *, is_anonymous: bool) -> None:
        self._calls[self._count] = call_id
        if is_anonymous:
            self._anonymous[self._count] = call_id
        self._numbers.setdefault(call_id, deque()).append(self._count)
        self._count += 1

    def first(self) -> str | None:
        """The oldest call, answered now."""
        return self._answer(self._calls)

    def first_anonymous(self) -> str | None:
        """The oldest call that came without an id, answered now."""
        return self._answer(self._anonymous)

    def _answer(self, calls: OrderedDict[int, str]) -> str | None:
        if not calls:
            return None
        call_id = next(iter(calls.values()))
        self.answer(call_id)
        return call_id

    def answer(self, call_id: str) -> None:
        """The oldest call of this id is answered now, if there is one."""
        numbers = self._numbers.get(call_id)
        if numbers:
            number = numbers.popleft()
            del self._calls[number]
            self._anonymous.pop(number, None)


class CallPairing:
    """Told of every call and response in order, it says which id each has.

    An id is an id; what has none is paired per name, in order. A response whose id no call has is paired by name
    too, with a call that came without an id: clients make ids up for calls that they got without.
    ``lenient`` accepts responses without their call, as ``countTokens`` is sent a conversation's last turn alone.
    """

    def __init__(self, *, lenient: bool = False) -> None:
        self._lenient = lenient
        self._open: dict[str, _Unanswered] = {}
        self._names: dict[str, str] = {}

    def call(self, sent_id: str | None, name: str, place: str) -> str:
        """The id of a call at ``place``, which differs for every call of a request."""
        call_id = sent_id or made_up_id(place, name)
        self._open.setdefault(name, _Unanswered()).add(call_id, is_anonymous=not sent_id)
        self._names[call_id] = name
        return call_id

    def response(self, sent_id: str | None, name: str, path: str) -> str:
        """The id of the call that a response at ``path`` answers. Raises an INVALID_REQUEST fault for none."""
        unanswered = self._open.setdefault(name, _Unanswered())
        if sent_id:
            return self._by_id(sent_id, unanswered)
        first = unanswered.first()
        if first is not None:
            return first
        if self._lenient:
            return made_up_id(path, name)
        raise invalid(f"no unanswered call of the function '{name[:100]}' comes before this response", path)

    def _by_id(self, sent_id: str, unanswered: _Unanswered) -> str:
        called_name = self._names.get(sent_id)
        if called_name is None:
            return unanswered.first_anonymous() or sent_id
        self._open[called_name].answer(sent_id)
        return sent_id
