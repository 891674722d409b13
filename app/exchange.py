"""One HTTP exchange: what is known of the request beside its turn, and the headers that every reply carries."""

from __future__ import annotations

import math
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from app.ledger import Findings
from app.turn.faults import TurnFault

_NEVER_RETRY = frozenset({401, 403, 404, 405, 413, 415})
_QUOTED = r'"(?:[^"\\]|\\.?)*(?:"|\Z)'  # one that never ends runs to the end: a match in one pass
_PREFERENCES = re.compile(rf'(?:{_QUOTED}|[^,"])+')
_PREFERENCE = re.compile(rf"\s*([^\s=;]+)\s*(?:=\s*({_QUOTED}|[^\s;]*))?")


def preferred_handling(header: str | None) -> str | None:
    """``strict`` or ``lenient`` from the Prefer header (RFC 7240), None when it names neither.

    Case-insensitive; several headers arrive joined by commas; only the first ``handling`` counts, whatever its
    value; other preferences and parameters are passed over.
    """
    for preference in _PREFERENCES.findall(header or ""):
        match = _PREFERENCE.match(preference)
        if match is not None and match[1].lower() == "handling":
            value = (match[2] or "").strip('"').lower()
            return value if value in ("strict", "lenient") else None
    return None


@dataclass(slots=True)
class Exchange:
    """Facts of one exchange. ``started`` is monotonic seconds; ``preference`` is the handling a caller asked for."""

    request_id: str = field(default_factory=lambda: "req_" + secrets.token_hex(12))
    started: float = field(default_factory=time.monotonic)
    caller: str = ""
    preference: str | None = None
    preference_obeyed: bool = False
    findings: Findings | None = None

    def headers(self) -> list[tuple[str, str]]:
        """Headers of every reply of this exchange."""
        pairs = [("x-request-id", self.request_id), ("request-id", self.request_id)]
        if self.preference is not None and self.preference_obeyed:
            pairs.append(("Preference-Applied", f"handling={self.preference}"))
        if self.findings is not None:
            pairs.extend(self.findings.headers())
        return pairs


def retry_after(seconds: float) -> int:
    """``seconds`` as a Retry-After value: whole, rounded up, at least 1."""
    return max(1, math.ceil(seconds))


def fault_headers(fault: TurnFault, status: int) -> Iterable[tuple[str, str]]:
    """Headers that a fault adds on every surface."""
    if fault.retry_after_s is not None:
        yield "Retry-After", str(retry_after(fault.retry_after_s))
    if status in _NEVER_RETRY:
        yield "x-should-retry", "false"
    yield from fault.headers.items()
