"""``/parameters``: the ledgers, for programs as JSON and for people as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson
from flask import Request, Response, render_template

from app.ledger import Ledger, Parameter
from app.metrics import Metrics
from app.turn.features import Feature

TITLES = {
    "chat_completions": "Chat Completions",
    "responses": "Responses",
    "messages": "Messages",
    "generate_content": "generateContent",
}
"""Surface -> its name for people."""

_COUNTED = ("ignored", "emulated", "refused")
_CONTENT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'"


@dataclass(frozen=True, slots=True)
class Entry:
    """One row as it is shown. ``disposition`` holds here, with the connect upstream as it is configured.

    ``elsewhere`` is what becomes of it where the upstream has ``feature``, or, if it is ``carried`` here, has not.
    A ``detail`` is decided together with what holds it. ``by_value``: some values have another fate, as the
    reason says.
    """

    surface: str
    path: str
    disposition: str
    reason: str
    wire: str | None
    feature: str | None
    carried: bool
    elsewhere: str | None
    exact: bool
    detail: bool
    by_value: bool
    neutral: tuple[Any, ...]
    counts: dict[str, int] = field(default_factory=dict)


def entry(surface: str, row: Parameter, features: frozenset[Feature]) -> Entry:
    """``row`` for an upstream with ``features``."""
    carried = row.feature is None or row.feature in features
    here, there = (row.disposition, row.without) if carried else (row.without, row.disposition)
    return Entry(
        surface=surface,
        path=row.path,
        disposition=here.value,
        reason=row.reason,
        wire=row.wire if here.value in ("forwarded", "emulated") else None,
        feature=row.feature.value if row.feature is not None else None,
        carried=carried,
        elsewhere=there.value if row.feature is not None and there is not here else None,
        exact=row.exact,
        detail=row.silent,
        by_value=row.rule is not None,
        neutral=row.neutral,
    )


def entries(ledgers: Iterable[Ledger], features: frozenset[Feature]) -> list[Entry]:
    """All rows of all ledgers, in their order."""
    return [entry(ledger.surface, row, features) for ledger in ledgers for row in ledger.rows.values()]


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A parameter that callers sent and no row names, and how often it was served without."""

    surface: str
    path: str
    ignored: int


class ParametersPage:
    """The page and its data. Counts are read anew each time, and only for whoever may see them."""

    def __init__(self, ledgers: Iterable[Ledger], features: frozenset[Feature], metrics: Metrics) -> None:
        self._entries = entries(ledgers, features)
        self._metrics = metrics

    def answer(self, request: Request, *, live: bool) -> Response:
        """JSON where it is asked for by ``?format=json`` or preferred by ``Accept``, else the page."""
        counts = self._counts() if live else {}
        if wants_json(request):
            response = Response(orjson.dumps(self._data(counts, live=live)), content_type="application/json")
        else:
            response = Response(self._page(counts, live=live), content_type="text/html; charset=utf-8")
            response.headers["Content-Security-Policy"] = _CONTENT_POLICY
        response.headers["Vary"] = "Accept, Authorization"
        response.headers["Cache-Control"] = "no-store"
        return response

    def _counts(self) -> dict[tuple[str, str], dict[str, int]]:
        """(surface, row path) -> outcome -> requests so far, summed over workers."""
        counts: dict[tuple[str, str], dict[str, int]] = {}
        totals = self._metrics.totals()
        for outcome in _COUNTED:
            for (surface, path), value in _pairs(totals[f"parameters_{outcome}"]):
                counts.setdefault((surface, path), {})[outcome] = int(value)
        return counts

    def _unlisted(self, counts: Mapping[tuple[str, str], dict[str, int]]) -> list[Unlisted]:
        listed = {(each.surface, each.path) for each in self._entries}
        return [
            Unlisted(surface, path, outcomes.get("ignored", 0))
            for (surface, path), outcomes in sorted(counts.items())
            if (surface, path) not in listed
        ]

    def _data(self, counts: Mapping[tuple[str, str], dict[str, int]], *, live: bool) -> dict[str, Any]:
        surfaces: dict[str, list[dict[str, Any]]] = {}
        for each in self._entries:
            shown = asdict(each)
            shown.pop("surface")
            if live:
                shown["counts"] = counts.get((each.surface, each.path), {})
            else:
                shown.pop("counts")
            surfaces.setdefault(each.surface, []).append(shown)
        data: dict[str, Any] = {"live": live, "surfaces": surfaces}
        if live:
            data["unlisted"] = [asdict(each) for each in self._unlisted(counts)]
        return data

    def _page(self, counts: Mapping[tuple[str, str], dict[str, int]], *, live: bool) -> str:
        return render_template(
            "parameters.html",
            entries=self._entries,
            titles=TITLES,
            dispositions=("forwarded", "emulated", "ignored", "refused"),
            counts=counts,
            live=live,
            unlisted=self._unlisted(counts),
        )


def wants_json(request: Request) -> bool:
    """Whether the caller asks for JSON rather than a page."""
    asked = request.args.get("format")
    if asked is not None:
        return asked == "json"
    return request.accept_mimetypes.best_match(("text/html", "application/json")) == "application/json"


def _pairs(samples: list[tuple[tuple[str, ...], float]]) -> Iterator[tuple[tuple[str, str], float]]:
    for labels, value in samples:
        surface, path = labels
        yield (surface, path), value
