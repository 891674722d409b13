"""The choice among tokens that can serve: in turn by weight, or the one that a session keeps."""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Collection, Iterable

from app.capacity.tokens import Token


class FairChoice:
    """Gives each token a share of the turns by its weight (stride scheduling).

    Each turn moves a token ahead by 1/weight; the one that is furthest behind comes next, the file's order
    breaking ties. A token that was away starts level with the others: it does not make up what it missed, nor
    what it was picked for while it was full.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ahead: dict[str, float] = {}
        self._level = 0.0

    def pick(self, tokens: Collection[Token]) -> Token:
        """The token whose turn it is, moved ahead. ``tokens``, those that can serve, is not empty."""
        with self._lock:
            token = min(tokens, key=self._place)
            self._level = self._place(token)
            self._ahead[token.name] = self._level + 1 / token.weight
            return token

    def took(self, token: Token, tokens: Collection[Token]) -> None:
        """A turn went to ``token`` of ``tokens`` for another reason; it counts all the same."""
        with self._lock:
            self._level = min(map(self._place, tokens))
            self._ahead[token.name] = self._place(token) + 1 / token.weight

    def _place(self, token: Token) -> float:
        return max(self._ahead.get(token.name, 0.0), self._level)


def in_order_for(session_key: str, tokens: Iterable[Token]) -> list[Token]:
    """``tokens`` as a session prefers them (weighted rendezvous hashing).

    All workers agree without asking each other. A session whose first choice is away goes to its second, and
    back again later; sessions of other tokens stay where they are. Over many sessions shares are by weight.
    """
    return sorted(tokens, key=lambda token: _affinity(session_key, token), reverse=True)


def _affinity(session_key: str, token: Token) -> float:
    digest = hashlib.blake2b(
        f"{token.name}\n{session_key}".encode("utf-8", "replace"), digest_size=8
    ).digest()
    uniform = (int.from_bytes(digest, "big") + 1) / (2**64 + 1)
    return -token.weight / math.log(uniform) if uniform < 1 else math.inf
