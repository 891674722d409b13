"""Operator routes; HTTP only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
from flask import Blueprint, Response, request

from app.callers import operator_may
from app.capacity import Capacity
from app.drain import Drain
from app.metrics import CONTENT_TYPE, Metrics
from app.operator.parameters import ParametersPage
from app.surfaces.surface import RequestFacts

_JSON = "application/json"


def blueprint(
    *, operator_key: str, metrics: Metrics, capacity: Capacity, drain: Drain, parameters: ParametersPage
) -> Blueprint:
    """/healthz, /readyz, /metrics, /connect-metrics, /pool and /parameters."""
    routes = Blueprint("operator", __name__, template_folder="pages")

    @routes.get("/healthz")
    def healthz() -> Response:
        """The process answers."""
        return Response(b'{"status":"ok"}', content_type=_JSON)

    @routes.get("/readyz")
    def readyz() -> Response:
        """Settings are valid (else the process would not run) and a token is usable; asks no upstream."""
        if drain.draining:
            return Response(b'{"status":"shutting down"}', 503, content_type=_JSON)
        if capacity.ready():
            return Response(b'{"status":"ready"}', content_type=_JSON)
        return Response(b'{"status":"no usable upstream token"}', 503, content_type=_JSON)

    @routes.get("/metrics")
    def metrics_page() -> Response:
        """Prometheus' text format, summed over workers."""
        return _guarded(operator_key, lambda: Response(metrics.exposition(), content_type=CONTENT_TYPE))

    @routes.get("/connect-metrics")
    def connect_metrics_page() -> Response:
        """The counters as JSON, summed over workers, and what the gates go by."""
        return _guarded(
            operator_key,
            lambda: _json({**connect_metrics(metrics), "gates": capacity.gates()}),
        )

    @routes.get("/pool")
    def pool_page() -> Response:
        """The state of every upstream token, by name."""
        return _guarded(operator_key, lambda: _json(capacity.report()))

    @routes.get("/parameters")
    def parameters_page() -> Response:
        """The ledgers; how often each row was met is for operators."""
        return parameters.answer(request, live=_is_operator(operator_key))

    return routes


def _json(page: dict[str, Any]) -> Response:
    return Response(orjson.dumps(page), content_type=_JSON)


def _is_operator(operator_key: str) -> bool:
    return operator_may(operator_key, RequestFacts.of(request).headers, request.remote_addr)


def _guarded(operator_key: str, page: Callable[[], Response]) -> Response:
    if _is_operator(operator_key):
        return page()
    return Response(
        b'{"error":{"message":"operator pages need CANDOR_OPERATOR_KEY, or a direct loopback peer without one",'
        b'"type":"invalid_request_error","param":null,"code":"invalid_api_key"}}',
        401,
        content_type=_JSON,
    )


def connect_metrics(metrics: Metrics) -> dict[str, Any]:
    """Counter name -> total, or nested by its labels: ``{"parameters_ignored": {surface: {row: total}}}``."""
    page: dict[str, Any] = {}
    for name, samples in metrics.totals().items():
        for labels, value in samples:
            if not labels:
                page[name] = int(value)
                continue
            holder = page.setdefault(name, {})
            for label in labels[:-1]:
                holder = holder.setdefault(label, {})
            holder[labels[-1]] = int(value)
        if not samples:
            page[name] = {} if metrics.is_split(name) else 0
    return page
