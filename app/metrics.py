"""Every metric of Candor, held by one object of the app.

Under gunicorn the counters live in memory-mapped files that all workers share (PROMETHEUS_MULTIPROC_DIR, set by
gunicorn.conf.py before this module is imported), so that ``/metrics`` on any worker tells the sum. Counters
start at 0 with each gunicorn master.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess
from prometheus_client.metrics_core import Metric

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_MULTIPROC = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS = (0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 1800)
MAX_UNKNOWN_PARAMETERS = 200


class Metrics:
    """The counters, and how to read their sums over all workers."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._labels: dict[str, tuple[str, ...]] = {}
        self.turns = self._counter(
            "turns", "Turns by surface and outcome (ok, fault or client_closed).", "surface", "outcome"
        )
        self.faults = self._counter("faults", "Faults by surface and kind.", "surface", "kind")
        self.parameters_ignored = self._counter(
            "parameters_ignored", "Parameters served without, once per request.", "surface", "parameter"
        )
        self.parameters_emulated = self._counter(
            "parameters_emulated", "Parameters emulated, once per request.", "surface", "parameter"
        )
        self.parameters_refused = self._counter(
            "parameters_refused", "Parameters refused, once per request.", "surface", "parameter"
        )
        self.hint_ignored = self._counter(
            "parallel_tool_calls_hint_ignored",
            "Requests whose wish for one tool call at a time was served without, on an upstream with a switch for it.",
        )
        self.parallel_hint_outcomes = self._counter(
            "parallel_tool_calls_hint_violated",
            "Turns whose caller wished for one tool call at a time and whose upstream made more; "
            "sent tells whether the wish was on the wire.",
            "sent",
        )
        self.forced_choice_outcomes = self._counter(
            "forced_tool_choice_without_call",
            "Turns whose caller demanded a tool call and whose upstream made none; "
            "sent tells whether the demand was on the wire.",
            "sent",
        )
        self.usage_estimated = self._counter(
            "usage_estimated", "Replies whose token counts are an estimate of Candor's.", "surface"
        )
        self.upstream_turns = self._counter("upstream_turns", "Turns opened on an upstream.", "upstream")
        self.client_closed = self._counter(
            "client_closed", "Callers that hung up before their answer was complete.", "surface"
        )
        self.keepalives = self._counter("keepalives", "Keepalives sent on silent streams.", "surface")
        self.first_event_seconds = Histogram(
            "candor_first_event_seconds",
            "Seconds from the request to the first event that speaks.",
            ["surface"],
            registry=self.registry,
            buckets=_SECONDS,
        )
        self.turn_seconds = Histogram(
            "candor_turn_seconds",
            "Seconds from the request to the end of the reply.",
            ["surface"],
            registry=self.registry,
            buckets=_SECONDS,
        )
        self.turns_running = Gauge(
            "candor_turns_running",
            "Turns running now.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )
        self.failovers = self._counter(
            "failovers",
            "Turns moved to another token, by the fault that moved them and the how-manieth move it was.",
            "reason",
            "hop",
        )
        self.gate_refusals = self._counter(
            "gate_refusals", "Turns that found a gate shut (capacity or drought).", "gate"
        )
        self.token_turns = self._counter("token_turns", "Turns served on an upstream token.", "token")
        self.token_changes = self._counter(
            "token_changes", "Changes of a token's state, by the state it went to.", "token", "state"
        )
        self.token_turns_running = Gauge(
            "candor_token_turns_running",
            "Turns that hold a token now.",
            ["token"],
            registry=self.registry,
            multiprocess_mode="livesum",
        )
        self.tokens_file_rejected = self._counter(
            "tokens_file_rejected", "Changes of the tokens file that were bad, so that the old pool stayed."
        )
        self.store_outages = self._counter(
            "store_outages", "Times that a worker lost the store and went on by itself."
        )
        self.store_down = Gauge(
            "candor_store_down",
            "Workers that run without the shared store now.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )
        self.entries_stored = self._counter(
            "entries_stored", "Replies that were kept, by kind (response or completion).", "kind"
        )
        self.entries_not_stored = self._counter(
            "entries_not_stored",
            "Replies that were to be kept and were not, by kind and reason (too_large or store_down).",
            "kind",
            "reason",
        )
        self.entries_evicted = self._counter(
            "entries_evicted",
            "Kept replies that made room for newer ones, by bound (caller or total).",
            "bound",
        )
        self.entry_outages = self._counter(
            "entry_outages", "Times that a worker lost the store of replies and kept none for a while."
        )
        self._unknown_parameters: set[str] = set()

    def _counter(self, name: str, meaning: str, *labels: str) -> Counter:
        self._labels[name] = labels
        return Counter(name, meaning, labels, registry=self.registry)

    def bounded_parameter(self, path: str) -> str:
        """``path`` as a label, or ``other`` once callers have made up too many names of their own."""
        if path in self._unknown_parameters:
            return path
        if len(self._unknown_parameters) >= MAX_UNKNOWN_PARAMETERS or len(path) > 120:
            return "other"
        self._unknown_parameters.add(path)
        return path

    def _collect(self) -> CollectorRegistry:
        if _MULTIPROC not in os.environ:
            return self.registry
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]  # the library lacks hints here
        return registry

    def exposition(self) -> bytes:
        """All metrics in Prometheus' text format, summed over workers."""
        return generate_latest(self._collect())

    def totals(self) -> dict[str, list[tuple[tuple[str, ...], float]]]:
        """Counter name without ``_total`` -> (label values as declared, value) pairs, summed over workers."""
        totals: dict[str, list[tuple[tuple[str, ...], float]]] = {name: [] for name in self._labels}
        for metric in self._families():
            names = self._labels.get(metric.name)
            if names is not None:
                totals[metric.name] = [
                    (tuple(sample.labels[name] for name in names), sample.value)
                    for sample in metric.samples
                    if sample.name.endswith("_total")
                ]
        return totals

    def by_label(self, sample_name: str, label: str) -> dict[str, float]:
        """Value of ``label`` -> the sample's value summed over workers, for a metric with that one label."""
        return {
            sample.labels[label]: sample.value
            for metric in self._families()
            for sample in metric.samples
            if sample.name == sample_name
        }

    def is_split(self, name: str) -> bool:
        """Whether the counter ``name`` has labels."""
        return bool(self._labels[name])

    def _families(self) -> Iterator[Metric]:
        return iter(self._collect().collect())
