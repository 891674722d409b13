"""What can go wrong with a turn, in no protocol's words; each surface has one table that words it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any


class FaultKind(Enum):
    """The kinds of DESIGN section 6. Permanent kinds can never succeed when repeated."""

    INVALID_REQUEST = "invalid_request"
    UNSUPPORTED_PARAMETER = "unsupported_parameter"
    AUTHENTICATION = "authentication"
    PERMISSION = "permission"
    NOT_FOUND = "not_found"
    WRONG_METHOD = "wrong_method"
    WRONG_ENCODING = "wrong_encoding"
    TOO_LARGE = "too_large"
    RATE_LIMITED = "rate_limited"
    QUOTA_EXHAUSTED = "quota_exhausted"
    CAPACITY = "capacity"
    DROUGHT = "drought"
    DRAINING = "draining"
    UPSTREAM_AUTHENTICATION = "upstream_authentication"
    UPSTREAM_FAILED = "upstream_failed"
    UPSTREAM_TRUNCATED = "upstream_truncated"
    UPSTREAM_TIMEOUT = "upstream_timeout"
    INTERNAL = "internal"


PERMANENT = frozenset(
    {
        FaultKind.INVALID_REQUEST,
        FaultKind.UNSUPPORTED_PARAMETER,
        FaultKind.AUTHENTICATION,
        FaultKind.PERMISSION,
        FaultKind.NOT_FOUND,
        FaultKind.WRONG_METHOD,
        FaultKind.WRONG_ENCODING,
        FaultKind.TOO_LARGE,
    }
)


class TurnFault(Exception):
    """A turn that cannot be served, before or after it reached an upstream.

    ``problem`` says what is wrong without naming the field; ``param`` is the concrete path of the field as the
    caller sent it (``messages[3].content[1].type``). Surfaces join the two in their own manner. ``code`` is a
    more precise code where the kind's default will not do. ``retry_after_s`` is in seconds. ``wording`` replaces
    the joined text on the surface it names, for wordings that real clients repair themselves by.
    """

    def __init__(
        self,
        kind: FaultKind,
        problem: str,
        *,
        param: str | None = None,
        code: str | None = None,
        retry_after_s: float | None = None,
        details: Mapping[str, Any] | None = None,
        wording: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(problem)
        self.kind = kind
        self.problem = problem
        self.param = param
        self.code = code
        self.retry_after_s = retry_after_s
        self.details = details or {}
        self.wording = wording or {}
        self.headers = headers or {}


class ClientGone(Exception):
    """The caller hung up; nobody is left to answer."""


def invalid(problem: str, param: str | None = None, *, code: str | None = None) -> TurnFault:
    """An INVALID_REQUEST fault about the field ``param``."""
    return TurnFault(FaultKind.INVALID_REQUEST, problem, param=param, code=code)


def unsupported(problem: str, param: str) -> TurnFault:
    """An UNSUPPORTED_PARAMETER fault about the field ``param``."""
    return TurnFault(FaultKind.UNSUPPORTED_PARAMETER, problem, param=param)


def as_fault(error: Exception) -> TurnFault:
    """``error`` itself when it is a fault, else an INTERNAL one that tells a caller nothing of the inside."""
    if isinstance(error, TurnFault):
        return error
    return TurnFault(FaultKind.INTERNAL, "an internal error occurred; the request id finds it in the log")
