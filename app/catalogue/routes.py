"""The model routes; HTTP only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from flask import Blueprint, Flask, Response, g, request
from flask.blueprints import BlueprintSetupState
from werkzeug.routing import BaseConverter

from app.accounts import Accounts
from app.callers import Callers
from app.catalogue import shapes
from app.catalogue.dialect import Dialect, dialect_of
from app.catalogue.models import Catalogue
from app.catalogue.query import Query
from app.exchange import Exchange, preferred_handling
from app.ledger import Disposition, Finding, Findings, Outcome, Parameter
from app.ledger.ledger import UNKNOWN_REASON
from app.turn.faults import FaultKind, TurnFault

NAME = "catalogue"
_Shape = Callable[[Any, Query], dict[str, Any]]

_LISTS: Mapping[Dialect, _Shape] = {
    Dialect.OPENAI: shapes.openai_list,
    Dialect.ANTHROPIC: shapes.anthropic_list,
    Dialect.GEMINI: shapes.gemini_list,
}
_MODELS: Mapping[Dialect, _Shape] = {
    Dialect.OPENAI: shapes.openai_model,
    Dialect.ANTHROPIC: shapes.anthropic_model,
    Dialect.GEMINI: shapes.gemini_model,
}


class _ModelName(BaseConverter):
    """A model's name in a path, slashes and colons included, but not a method of generate_content on it."""

    regex = rf"(?!.*:(?:{'|'.join(shapes.GEMINI_METHODS)})$)[^/].*?"
    part_isolating = False
    weight = 200


@dataclass(frozen=True, slots=True)
class _Desk:
    """What the routes need. ``handling`` is what becomes of unknown query parameters unless the caller says."""

    callers: Callers
    accounts: Accounts
    handling: str

    def answer(self, shapes_by_dialect: Mapping[Dialect, _Shape], find: Callable[[], Any]) -> Response:
        """Authenticate the current request and show what ``find`` finds in the caller's dialect."""
        exchange = g.exchange = Exchange()
        dialect = dialect_of(request.path, request.headers)
        query = Query(request.args.to_dict(flat=False))
        key = query.text("key") if dialect is Dialect.GEMINI else None
        headers = {name.lower(): value for name, value in request.headers.items()}
        exchange.caller = self.callers.authenticate(headers, request.remote_addr, key)
        exchange.preference = preferred_handling(headers.get("prefer"))
        shown = shapes_by_dialect[dialect](find(), query)
        exchange.preference_obeyed = True
        exchange.findings = self._unknown(query, (exchange.preference or self.handling) == "strict")
        response = Response(orjson.dumps(shown), content_type="application/json")
        for name, value in exchange.headers():
            response.headers[name] = value
        return response

    def _unknown(self, query: Query, strict: bool) -> Findings:
        """What was left unread is ignored and said so; raises an UNSUPPORTED_PARAMETER fault when strict."""
        rows = [Parameter(name, Disposition.IGNORED, UNKNOWN_REASON) for name in query.left]
        if rows and strict:
            fault = TurnFault(
                FaultKind.UNSUPPORTED_PARAMETER,
                UNKNOWN_REASON,
                param=rows[0].path,
                details={"refused": query.left, "rows": rows},
            )
            self.accounts.refused(NAME, fault)
            raise fault
        findings = Findings([Finding(row, row.path, Outcome(row.disposition)) for row in rows])
        self.accounts.served(NAME, findings)
        return findings


def blueprint(catalogue: Catalogue, callers: Callers, accounts: Accounts, handling: str) -> Blueprint:
    """``GET /v1/models`` and ``/v1/models/{id}``, and both under ``/v1beta``; aliases name their model."""
    routes = Blueprint(NAME, __name__)
    desk = _Desk(callers, accounts, handling)

    @routes.record_once
    def add_converter(state: BlueprintSetupState) -> None:
        assert isinstance(state.app, Flask)
        state.app.url_map.converters["model_name"] = _ModelName

    @routes.get("/v1/models")
    @routes.get("/v1beta/models")
    def models() -> Response:
        return desk.answer(_LISTS, lambda: catalogue.models)

    @routes.get("/v1/models/<model_name:name>")
    @routes.get("/v1beta/models/<model_name:name>")
    def model(name: str) -> Response:
        return desk.answer(_MODELS, lambda: catalogue.resolve(name))

    return routes
