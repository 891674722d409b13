from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.metrics import MAX_UNKNOWN_PARAMETERS, Metrics
from app.operator.routes import connect_metrics

ROOT = Path(__file__).resolve().parents[2]

WORKER = """
import sys
from app.metrics import Metrics
metrics = Metrics()
metrics.hint_ignored.inc(int(sys.argv[1]))
metrics.parameters_ignored.labels("chat_completions", "seed").inc(int(sys.argv[1]))
metrics.turns_running.inc()
"""

READER = """
import json
from app.metrics import Metrics
from app.operator.routes import connect_metrics
metrics = Metrics()
print(json.dumps([connect_metrics(metrics), metrics.exposition().decode()]))
"""


def test_two_apps_in_one_process_count_apart() -> None:
    first, second = Metrics(), Metrics()
    first.hint_ignored.inc()
    assert first.totals()["parallel_tool_calls_hint_ignored"] == [((), 1.0)]
    assert second.totals()["parallel_tool_calls_hint_ignored"] == [((), 0.0)]


def test_totals_hold_every_counter_before_anything_is_counted() -> None:
    totals = Metrics().totals()
    assert totals["parameters_ignored"] == []
    assert totals["parallel_tool_calls_hint_ignored"] == [((), 0.0)]


def test_totals_tell_labels_in_their_declared_order() -> None:
    metrics = Metrics()
    metrics.parameters_ignored.labels("chat_completions", "seed").inc(2)
    assert metrics.totals()["parameters_ignored"] == [(("chat_completions", "seed"), 2.0)]


def test_the_exposition_has_the_names_that_are_documented() -> None:
    metrics = Metrics()
    metrics.hint_ignored.inc()
    metrics.parameters_ignored.labels("responses", "messages[].name").inc()
    metrics.usage_estimated.labels("messages").inc()
    lines = metrics.exposition().decode().splitlines()
    assert "parallel_tool_calls_hint_ignored_total 1.0" in lines
    assert 'parameters_ignored_total{parameter="messages[].name",surface="responses"} 1.0' in lines
    assert 'usage_estimated_total{surface="messages"} 1.0' in lines


def test_a_label_with_quotes_and_newlines_leaves_the_exposition_readable() -> None:
    metrics = Metrics()
    metrics.parameters_ignored.labels("chat", 'a"b\nc\\d').inc()
    assert b'parameters_ignored_total{parameter="a\\"b\\nc\\\\d",surface="chat"} 1.0' in metrics.exposition()


def test_connect_metrics_nests_by_label_and_has_the_hint_at_the_top() -> None:
    metrics = Metrics()
    metrics.parameters_ignored.labels("chat_completions", "seed").inc()
    metrics.parallel_hint_outcomes.labels("0").inc(3)
    page = connect_metrics(metrics)
    assert page["parallel_tool_calls_hint_ignored"] == 0
    assert page["parameters_ignored"] == {"chat_completions": {"seed": 1}}
    assert page["parallel_tool_calls_hint_violated"] == {"0": 3}
    assert page["turns"] == {}


def test_names_made_up_by_callers_become_labels_up_to_a_bound() -> None:
    metrics = Metrics()
    names = [f"name_{number}" for number in range(MAX_UNKNOWN_PARAMETERS)]
    assert [metrics.bounded_parameter(name) for name in names] == names
    assert metrics.bounded_parameter("one_more") == "other"
    assert metrics.bounded_parameter("name_0") == "name_0"


@pytest.mark.parametrize(("length", "label"), [(120, "x" * 120), (121, "other")])
def test_a_name_becomes_a_label_up_to_a_length(length: int, label: str) -> None:
    assert Metrics().bounded_parameter("x" * length) == label


def test_counters_of_all_workers_add_up_and_outlive_them(tmp_path: Path) -> None:
    environ = {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path), "PATH": "/bin:/usr/bin"}
    for times in ("2", "3"):
        subprocess.run([sys.executable, "-c", WORKER, times], cwd=ROOT, env=environ, check=True)
    output = subprocess.check_output([sys.executable, "-c", READER], cwd=ROOT, env=environ, text=True)
    page, exposition = json.loads(output)
    assert page["parallel_tool_calls_hint_ignored"] == 5
    assert page["parameters_ignored"] == {"chat_completions": {"seed": 5}}
    assert "parallel_tool_calls_hint_ignored_total 5.0" in exposition.splitlines()
    assert not [line for line in exposition.splitlines() if "pid=" in line]
