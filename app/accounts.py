"""The books of the promise: counters and warnings for what was ignored, emulated and refused."""

from __future__ import annotations

import threading

from app.ledger import Finding, Findings, Parameter
from app.ledger.ledger import UNKNOWN_REASON
from app.logs import EventLog
from app.metrics import Metrics
from app.turn.events import Event, Finished, ToolCallStarted
from app.turn.faults import TurnFault
from app.turn.features import Feature
from app.turn.turn import Turn
from app.upstreams import Upstream

MAX_WARNED = 2000


class Accounts:
    """Counts once per request and parameter, warns once per process and parameter."""

    def __init__(self, metrics: Metrics, log: EventLog) -> None:
        self._metrics = metrics
        self._log = log
        self._warned: set[tuple[str, str]] = set()
        self._lock = threading.Lock()

    def served(self, surface: str, findings: Findings, upstream: Upstream | None = None) -> None:
        """Book the findings of a request that is going to be served; ``upstream`` is None where no turn runs."""
        for row in _rows(findings.emulated):
            self._metrics.parameters_emulated.labels(surface, self._label(row)).inc()
        seen: set[str] = set()
        for finding in findings.ignored:
            row = finding.row
            if row.path not in seen:
                seen.add(row.path)
                self._ignored(surface, finding, upstream)

    def refused(self, surface: str, fault: TurnFault) -> None:
        """Book the rows that a refusal names."""
        for row in {row.path: row for row in fault.details.get("rows", ())}.values():
            self._metrics.parameters_refused.labels(surface, self._label(row)).inc()

    def _label(self, row: Parameter) -> str:
        return self._metrics.bounded_parameter(row.path) if row.reason is UNKNOWN_REASON else row.path

    def _ignored(self, surface: str, finding: Finding, upstream: Upstream | None) -> None:
        row = finding.row
        label = self._label(row)
        self._metrics.parameters_ignored.labels(surface, label).inc()
        fields = {"surface": surface, "parameter": label, "reason": row.reason}
        switch = None
        if upstream is not None:
            fields["upstream"] = upstream.name
            switch = finding.outcome.feature and upstream.switch_for(finding.outcome.feature)
        if switch is not None:
            fields["switch"] = switch
        if row.hint_event is not None and switch is not None:
            self._metrics.hint_ignored.inc()
            self._warn_once((row.hint_event, ""), row.hint_event, fields)
        else:
            self._warn_once((surface, label), "parameter_ignored", fields)

    def _warn_once(self, key: tuple[str, str], event: str, fields: dict[str, str]) -> None:
        if key in self._warned:
            return
        with self._lock:
            if key in self._warned or len(self._warned) >= MAX_WARNED:
                return
            self._warned.add(key)
        self._log.warning(event, **fields)


def _rows(findings: list[Finding]) -> list[Parameter]:
    return list({finding.row.path: finding.row for finding in findings}.values())


class OutcomeCounter:
    """Watches one turn's events for what an operator needs to decide about the tool choice switch."""

    def __init__(self, metrics: Metrics, turn: Turn, features: frozenset[Feature]) -> None:
        self._metrics = metrics
        self._hint = turn.parallel_tool_calls is False
        self._hint_sent = Feature.DISABLE_PARALLEL_TOOL_CALLS in features
        self._forced = turn.tool_choice is not None and turn.tool_choice.mode == "required"
        self._force_sent = Feature.TOOL_CHOICE in features
        self._calls = 0

    @property
    def idle(self) -> bool:
        """Whether this turn has nothing to watch for."""
        return not (self._hint or self._forced)

    def feed(self, events: list[Event]) -> None:
        """Count calls; book the outcome when the turn finishes."""
        for event in events:
            if isinstance(event, ToolCallStarted):
                self._calls += 1
            elif isinstance(event, Finished):
                self._book()

    def _book(self) -> None:
        if self._hint and self._calls > 1:
            self._metrics.parallel_hint_outcomes.labels(str(int(self._hint_sent))).inc()
        if self._forced and self._calls == 0:
            self._metrics.forced_choice_outcomes.labels(str(int(self._force_sent))).inc()
