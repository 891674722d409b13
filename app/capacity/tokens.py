"""The operator's upstream tokens: one from a setting, or many from a file that may change while Candor runs."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from app.settings import SettingsError

SWITCH = "DEVIN_CONNECT_TOKENS_FILE"
DEFAULT_NAME = "default"
MAX_WEIGHT = 1000.0
MAX_LIMIT = 1_000_000

_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_KEY = re.compile(r"[a-z_]{1,20}")
_KNOWN = frozenset({"name", "secret", "tier", "weight", "limit"})


@dataclass(frozen=True, slots=True)
class Token:
    """One upstream token. ``limit`` bounds its concurrent turns (0: no bound); ``tier`` "free" keeps it from
    models that are not free. ``identity`` tells one secret of a name from the next without being it."""

    name: str
    secret: str = field(repr=False)
    tier: str = "paid"
    weight: float = 1.0
    limit: int = 0
    identity: str = ""

    def may_serve(self, tier: str) -> bool:
        """Whether models of ``tier`` run on it."""
        return self.tier == "paid" or tier == "free"


@dataclass(frozen=True, slots=True)
class TokenSet:
    """The tokens as of one version of their source. A token that died stays dead within a ``generation``."""

    tokens: tuple[Token, ...]
    generation: str


class TokenSource(Protocol):
    """Where the tokens come from."""

    def current(self) -> TokenSet:
        """The tokens now; the same object as long as nothing changed."""


class FixedTokens:
    """A source that never changes."""

    def __init__(self, tokens: TokenSet) -> None:
        self._tokens = tokens

    def current(self) -> TokenSet:
        """See TokenSource."""
        return self._tokens


def single_token(secret: str, generation: str) -> FixedTokens:
    """The pool of one token, from the setting. Raises SettingsError for one that no header can carry."""
    problem = _problem_of_secret(secret)
    if problem is not None:
        raise SettingsError(f"DEVIN_CONNECT_TOKEN=(secret): {problem}")
    return FixedTokens(TokenSet((Token(DEFAULT_NAME, secret, identity=identity_of(secret)),), generation))


class TokensFile:
    """A source that follows a file. A change that cannot be used is told to ``on_bad`` once; the old tokens stay.

    Construction raises SettingsError when there is nothing to start from.
    """

    def __init__(self, path: Path, on_bad: Callable[[str], None], on_change: Callable[[int], None]) -> None:
        self._path = path
        self._on_bad = on_bad
        self._on_change = on_change
        self._seen = self._signature()
        try:
            self._tokens = read_tokens(path)
        except ValueError as error:
            raise SettingsError(f"{SWITCH}={str(path)!r}: {error}") from None

    def current(self) -> TokenSet:
        """See TokenSource."""
        signature = self._signature()
        if signature != self._seen:
            self._seen = signature
            try:
                tokens = read_tokens(self._path)
            except ValueError as error:
                self._on_bad(str(error))
            else:
                if tokens != self._tokens:
                    self._tokens = tokens
                    self._on_change(len(tokens.tokens))
        return self._tokens

    def _signature(self) -> tuple[int, ...] | None:
        try:
            status = os.stat(self._path)
        except OSError:
            return None
        return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)


def read_tokens(path: Path) -> TokenSet:
    """Read a tokens file. Raises ValueError whose text never quotes a secret."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ValueError(error.strerror or "cannot be read") from None
    try:
        table = tomllib.loads(text.decode())
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8 text") from None
    except (ValueError, RecursionError) as error:  # of numbers too long, of nesting too deep
        place = re.search(r"line \d+, column \d+|end of document", str(error))
        raise ValueError(f"is not valid TOML ({place[0] if place else 'somewhere'})") from None
    rows = table.get("token")
    if not isinstance(rows, list):
        raise ValueError("has no [[token]] table; `token = []` means none on purpose")
    if len(table) > 1:
        raise ValueError("holds something beside [[token]] tables")
    tokens = tuple(_token(number, row) for number, row in enumerate(rows, 1))
    for attribute in ("name", "secret"):
        if len({getattr(token, attribute) for token in tokens}) < len(tokens):
            raise ValueError(f"two tokens have the same {attribute}")
    return TokenSet(tokens, hashlib.sha256(text).hexdigest()[:16])


def identity_of(secret: str) -> str:
    """A short digest, which tells a replaced secret from its successor."""
    return hashlib.blake2b(secret.encode(), digest_size=6).hexdigest()


def _token(number: int, row: Any) -> Token:
    where = f"[[token]] number {number}"
    if not isinstance(row, dict):
        raise ValueError(f"{where} is not a table")
    for key in row:
        if key not in _KNOWN:
            raise ValueError(f"{where}: unknown key" + (f" '{key}'" if _KEY.fullmatch(key) else ""))
    name, secret = row.get("name"), row.get("secret")
    tier, weight, limit = row.get("tier", "paid"), row.get("weight", 1), row.get("limit", 0)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{where}: name must be 1 to 64 of A-Z a-z 0-9 . _ -")
    problem = _problem_of_secret(secret)
    if problem is not None or not isinstance(secret, str):
        raise ValueError(f"{where}: secret {problem}")
    if tier not in ("free", "paid"):
        raise ValueError(f"{where}: tier is neither free nor paid")
    if type(weight) not in (int, float) or not 0 < weight <= MAX_WEIGHT:
        raise ValueError(f"{where}: weight must be a number above 0 and at most {MAX_WEIGHT:g}")
    if type(limit) is not int or limit < 0:
        raise ValueError(f"{where}: limit must be a whole number, 0 for none")
    if limit > MAX_LIMIT:
        raise ValueError(f"{where}: limit must be at most {MAX_LIMIT}")
    return Token(name, secret, tier, float(weight), limit, identity_of(secret))


def _problem_of_secret(secret: Any) -> str | None:
    if not isinstance(secret, str) or not secret:
        return "must be a text that is not empty"
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        return "must be printable ASCII without spaces"
    return None
