"""The application factory: settings -> services -> blueprints."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from flask import Flask, Response, g, request
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from app import cors
from app import settings as settings_module
from app.accounts import Accounts
from app.callers import Callers, read_keys
from app.capacity.creation import create_capacity
from app.catalogue.dialect import dialect_of
from app.catalogue.models import load_catalogue
from app.catalogue.routes import blueprint as catalogue_blueprint
from app.drain import Drain
from app.exchange import Exchange, fault_headers
from app.logs import EventLog
from app.metrics import Metrics
from app.operator.parameters import ParametersPage
from app.operator.routes import blueprint as operator_blueprint
from app.pipeline import Pipeline, Services
from app.seals import Seals, load_key
from app.settings import Settings, SettingsError
from app.stores.shelf import open_shelf
from app.surfaces import chat_completions, generate_content, messages, responses
from app.surfaces.surface import Surface, SurfaceTools
from app.turn.faults import FaultKind, TurnFault, as_fault
from app.upstreams import Upstream
from app.upstreams.connect import ConnectUpstream
from app.upstreams.local import LocalUpstream

_GEMINI_METHOD = re.compile(r":(?:generateContent|streamGenerateContent|countTokens)$")
_SURFACES = (chat_completions, responses, messages, generate_content)


@dataclass(frozen=True, slots=True)
class Candor:
    """Everything that belongs to one app; found by ``of(app)``."""

    settings: Settings
    services: Services
    pipeline: Pipeline
    surfaces: dict[str, Surface]


def of(app: Flask) -> Candor:
    """The parts of ``app``."""
    return cast(Candor, app.extensions["candor"])


def create_app(settings: Settings | None = None, *, new_session_id: Callable[[], str] | None = None) -> Flask:
    """settings -> services -> blueprints. Raises SettingsError for settings that cannot be meant."""
    misspelt = [] if settings else settings_module.unknown_names(os.environ)
    settings = settings or settings_module.load(os.environ)
    app = Flask("candor", static_folder=None)
    app.url_map.merge_slashes = False
    app.json.sort_keys = False  # type: ignore[attr-defined]  # the default provider has it
    services = _services(settings, new_session_id)
    if misspelt:
        services.log.warning("unknown_switches", names=misspelt)
    pipeline = Pipeline(services)
    tools = SurfaceTools(
        Seals(load_key(settings.seal_key, Path(settings.state_dir) / "seal.key")),
        open_shelf(settings, services.log, services.metrics),
    )
    surfaces = {surface.name: surface for surface in (package.create(tools) for package in _SURFACES)}
    _check_strict_parameters(settings, surfaces)
    for package, surface in zip(_SURFACES, surfaces.values(), strict=True):
        app.register_blueprint(package.blueprint(pipeline, surface))
    app.register_blueprint(
        catalogue_blueprint(
            services.catalogue, services.callers, services.accounts, handling=settings.handling
        )
    )
    app.register_blueprint(
        operator_blueprint(
            operator_key=settings.operator_key,
            metrics=services.metrics,
            capacity=services.capacity,
            drain=services.drain,
            parameters=ParametersPage(
                [surface.ledger for surface in surfaces.values()],
                services.upstreams["connect"].features,
                services.metrics,
            ),
        )
    )
    cors.install(app, settings.cors_origins)
    _answer_faults(app, surfaces, services)
    app.extensions["candor"] = Candor(settings, services, pipeline, surfaces)
    return app


def _services(settings: Settings, new_session_id: Callable[[], str] | None) -> Services:
    upstreams: dict[str, Upstream] = {"connect": ConnectUpstream(settings), "local": LocalUpstream()}
    metrics = Metrics()
    log = EventLog(settings.log_level)
    catalogue = load_catalogue(settings, upstreams.keys())
    services = Services(
        settings=settings,
        callers=Callers(read_keys(settings), settings.cors_origins),
        catalogue=catalogue,
        upstreams=upstreams,
        capacity=create_capacity(settings, catalogue, metrics, log),
        metrics=metrics,
        accounts=Accounts(metrics, log),
        log=log,
        drain=Drain(settings.drain_s),
    )
    return services if new_session_id is None else replace(services, new_session_id=new_session_id)


def _check_strict_parameters(settings: Settings, surfaces: dict[str, Surface]) -> None:
    for name in settings.strict_parameters:
        surface, colon, row = name.partition(":")
        if colon and surface in surfaces:
            known = row in surfaces[surface].ledger.rows
        else:
            known = any(name in each.ledger.rows for each in surfaces.values())
        if not known:
            raise SettingsError(f"CANDOR_STRICT_PARAMETERS={name!r}: no surface has such a ledger row")


def _answer_faults(app: Flask, surfaces: dict[str, Surface], services: Services) -> None:
    """Unknown paths, wrong methods and defects are answered in the words of the surface they belong to."""

    def answer(fault: TurnFault, headers: tuple[tuple[str, str], ...] = ()) -> Response:
        exchange = g.get("exchange") or Exchange()
        surface = surfaces[surface_of_path(request.method, request.path, request.headers)]
        rendered = surface.fault_reply(fault, exchange.request_id)
        response = Response(rendered.body, rendered.status, content_type="application/json")
        for name, value in (*exchange.headers(), *fault_headers(fault, rendered.status), *headers):
            response.headers[name] = value
        return response

    @app.after_request
    def identify(response: Response) -> Response:
        """Every reply has a request id."""
        if "x-request-id" not in response.headers:
            for name, value in Exchange().headers():
                response.headers[name] = value
        return response

    @app.errorhandler(HTTPException)
    def http_error(error: HTTPException) -> Response:
        if isinstance(error, MethodNotAllowed):
            allowed = ", ".join(sorted(error.valid_methods or ()))
            fault = TurnFault(
                FaultKind.WRONG_METHOD, f"{request.method} is not allowed here; allowed: {allowed}"
            )
            return answer(fault, (("Allow", allowed),))
        if error.code == 404:
            problem = f"there is no {request.method} {request.path[:200]} here"
            return answer(TurnFault(FaultKind.NOT_FOUND, problem, code="unknown_url"))
        return answer(TurnFault(FaultKind.INVALID_REQUEST, error.description or "the request is not valid"))

    @app.errorhandler(TurnFault)
    def turn_fault(fault: TurnFault) -> Response:
        return answer(fault)

    @app.errorhandler(Exception)
    def defect(error: Exception) -> Response:
        exchange = g.setdefault("exchange", Exchange())
        services.log.error(
            "internal_error",
            path=request.path[:200],
            request_id=exchange.request_id,
            problem=repr(error),
            traceback=traceback.format_exception(error),
        )
        return answer(as_fault(error))


def surface_of_path(method: str, path: str, headers: Headers) -> str:
    """The surface in whose words a path is answered that no surface serves."""
    if path.startswith("/v1/responses"):
        return "responses"
    if path.startswith("/v1/messages"):
        return "messages"
    if path.startswith("/v1/chat/"):
        return "chat_completions"
    if path.startswith("/v1/models/") and (_GEMINI_METHOD.search(path) or (method == "POST" and ":" in path)):
        return "generate_content"
    return dialect_of(path, headers).value
