"""Who calls: API keys in constant time, or the loopback rule where no keys are configured."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from app.settings import Settings, SettingsError
from app.turn.faults import FaultKind, TurnFault

LOOPBACK_CALLER = "loopback"
_KEY_HEADERS = ("x-api-key", "x-goog-api-key")


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).digest()


def read_keys(settings: Settings) -> tuple[str, ...]:
    """All caller keys. Raises SettingsError when the keys file cannot be read."""
    keys = list(settings.api_keys)
    if settings.api_keys_file:
        try:
            lines = Path(settings.api_keys_file).read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            problem = error.strerror if isinstance(error, OSError) else "is not UTF-8 text"
            raise SettingsError(f"CANDOR_API_KEYS_FILE={settings.api_keys_file!r}: {problem}") from None
        keys.extend(line.split("#", 1)[0].strip() for line in lines)
        if not any(keys):
            raise SettingsError(f"CANDOR_API_KEYS_FILE={settings.api_keys_file!r}: holds no key")
    return tuple(key for key in keys if key)


class Callers:
    """Tells callers apart. A caller's name is a hash of its key: safe to log and to store by.

    ``origins`` are web origins that are not foreign although they are on another machine.
    """

    def __init__(self, keys: Iterable[str], origins: Collection[str] = ()) -> None:
        self._digests = [_digest(key) for key in keys]
        self._origins = origins

    def authenticate(self, headers: Mapping[str, str], peer: str | None, query_key: str | None) -> str:
        """The caller's name. Raises an AUTHENTICATION fault.

        Keys are looked for in ``Authorization: Bearer``, ``x-api-key``, ``x-goog-api-key`` and ``query_key``
        (the ``?key=`` of generate_content paths). Two different keys at once are a fault.
        """
        presented = presented_keys(headers, query_key)
        if not self._digests:
            return self._loopback(headers, peer)
        if not presented:
            raise _unauthenticated("no API key was sent")
        if len(presented) > 1:
            raise _unauthenticated("two different API keys were sent")
        digest = _digest(presented.pop())
        found = False
        for known in self._digests:
            found |= hmac.compare_digest(known, digest)
        if not found:
            raise _unauthenticated("the API key is not valid")
        return digest.hex()[:32]

    def _loopback(self, headers: Mapping[str, str], peer: str | None) -> str:
        if not is_local(headers, peer, self._origins):
            raise _unauthenticated("no API keys are configured, so only direct loopback peers are served")
        return LOOPBACK_CALLER


def presented_keys(headers: Mapping[str, str], query_key: str | None = None) -> set[str]:
    """The different keys that a request carries."""
    keys = {value for name in _KEY_HEADERS if (value := headers.get(name, "").strip())}
    scheme, _, credentials = headers.get("authorization", "").strip().partition(" ")
    if scheme.lower() == "bearer" and credentials.strip():
        keys.add(credentials.strip())
    if query_key:
        keys.add(query_key)
    return keys


def is_local(headers: Mapping[str, str], peer: str | None, origins: Collection[str] = ()) -> bool:
    """Whether a request comes straight from this machine: loopback peer, not forwarded, no foreign Origin.

    An Origin is foreign unless it is on a loopback host or among ``origins``.
    """
    if peer is None or not _is_loopback(peer):
        return False
    if "forwarded" in headers or "x-forwarded-for" in headers:
        return False
    origin = headers.get("origin")
    if origin is None or origin in origins:
        return True
    try:
        host = urlsplit(origin).hostname or ""
    except ValueError:
        return False
    return host == "localhost" or _is_loopback(host)


def _is_loopback(address: str) -> bool:
    """Whether this is a loopback address; an IPv4 one may be written as IPv6 (``::ffff:127.0.0.1``)."""
    if address == "127.0.0.1":  # what nearly all of them are
        return True
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return (mapped or parsed).is_loopback


def operator_may(operator_key: str, headers: Mapping[str, str], peer: str | None) -> bool:
    """Whether a request may see operator pages: by the operator key, or by the loopback rule without one."""
    if not operator_key:
        return is_local(headers, peer)
    keys = presented_keys(headers)
    return len(keys) == 1 and hmac.compare_digest(_digest(keys.pop()), _digest(operator_key))


def _unauthenticated(problem: str) -> TurnFault:
    return TurnFault(FaultKind.AUTHENTICATION, problem, code="invalid_api_key")
