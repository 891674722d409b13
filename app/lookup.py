"""Requests about what is kept: no turn runs, so the way is short: authenticate, read, answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Response, g, request

from app.accounts import Accounts
from app.bodies import parse_object, read_body
from app.callers import Callers
from app.catalogue.query import Query
from app.exchange import Exchange, preferred_handling
from app.ledger import Disposition, Finding, Findings, Outcome, Parameter
from app.ledger.ledger import UNKNOWN_REASON
from app.settings import Settings
from app.surfaces.surface import Found, Lookup
from app.turn.faults import FaultKind, TurnFault


class Desk:
    """Answers lookups. Faults are raised; the app words them as the path's surface does."""

    def __init__(self, callers: Callers, accounts: Accounts, settings: Settings) -> None:
        self._callers = callers
        self._accounts = accounts
        self._settings = settings

    def answer(self, surface: str, act: Callable[[Lookup], Found]) -> Response:
        """Authenticate the current request and answer what ``act`` finds."""
        exchange = g.exchange = Exchange()
        headers = {name.lower(): value for name, value in request.headers.items()}
        exchange.caller = self._callers.authenticate(headers, request.remote_addr, None)
        exchange.preference = preferred_handling(headers.get("prefer"))
        found = act(_Reading(exchange, lambda paths: self._ignored(surface, exchange, paths), self._read))
        response = Response(found.body, 200, content_type=found.content_type)
        for name, value in exchange.headers():
            response.headers[name] = value
        return response

    def _read(self) -> dict[str, Any]:
        encoding = request.headers.get("content-encoding", "")
        limit = self._settings.max_body_mb << 20
        return parse_object(read_body(request.stream, request.content_length, encoding, limit))

    def _ignored(self, surface: str, exchange: Exchange, paths: list[str]) -> None:
        """What was not understood is ignored and said so; raises an UNSUPPORTED_PARAMETER fault when strict."""
        exchange.preference_obeyed = True
        rows = [Parameter(path, Disposition.IGNORED, UNKNOWN_REASON) for path in paths]
        if rows and (exchange.preference or self._settings.handling) == "strict":
            fault = TurnFault(
                FaultKind.UNSUPPORTED_PARAMETER,
                UNKNOWN_REASON,
                param=rows[0].path,
                details={"refused": paths, "rows": rows},
            )
            self._accounts.refused(surface, fault)
            raise fault
        exchange.findings = Findings([Finding(row, row.path, Outcome(row.disposition)) for row in rows])
        self._accounts.served(surface, exchange.findings)


class _Reading:
    """See Lookup."""

    def __init__(
        self, exchange: Exchange, judge: Callable[[list[str]], None], read: Callable[[], dict[str, Any]]
    ) -> None:
        self.caller = exchange.caller
        self.query = Query(request.args.to_dict(flat=False))
        self._judge = judge
        self._read = read
        self._ignored: list[str] = []

    def body(self, *keys: str) -> dict[str, Any]:
        """See Lookup."""
        body = self._read()
        self._ignored += [key for key in body if key not in keys]
        return body

    def ignore(self, path: str) -> None:
        """See Lookup."""
        self._ignored.append(path)

    def settle(self) -> None:
        """See Lookup."""
        self._judge([*self.query.left, *self._ignored])
