"""Committed evidence says what the probes find now. Dates, versions and commits stand in its heading, apart."""

from __future__ import annotations

import collections
import importlib
import re
import subprocess
import sys

import pytest

from evidence.__main__ import names
from evidence.probe import heading, in_process, recorded
from tests.bench.__main__ import TITLES
from tests.clients.table import COLUMNS, scenario_of
from tests.support.servers import ROOT

GROWTH = "A history on its way from the caller to the upstream, in this process, in ms"

PROBES = [name for name in names() if hasattr(importlib.import_module(f"evidence.{name}"), "observe")]
RECORDS = sorted(path.name for path in (ROOT / "evidence").iterdir() if path.suffix in (".txt", ".md"))
HOW = "run `.venv/bin/python -m evidence {name}`, look at what changed and commit it"


@pytest.mark.parametrize("name", PROBES)
def test_committed_evidence_is_what_the_probe_finds(name: str) -> None:
    probe = importlib.import_module(f"evidence.{name}")
    assert recorded(name) == probe.observe(in_process), HOW.format(name=name)


@pytest.mark.parametrize("name", PROBES)
def test_committed_evidence_has_its_title(name: str) -> None:
    assert read(f"{name}.txt").splitlines()[0] == importlib.import_module(f"evidence.{name}").TITLE


@pytest.mark.parametrize("record", RECORDS)
def test_committed_evidence_says_when_and_with_what(record: str) -> None:
    title, about, *rest = [line for line in read(record).splitlines() if line]
    date, commit, python, *packages = about.split(", ")
    assert title
    assert rest
    assert re.fullmatch(r"2\d\d\d-[01]\d-[0-3]\d", date)
    assert re.fullmatch(r"commit [0-9a-f]{7,}( with changes)?", commit)
    assert python.startswith("Python 3.11.")
    assert packages == heading("")[1].split(", ")[3:], "its packages are not those that are pinned now"


def test_every_record_has_a_probe_or_a_program_that_writes_it() -> None:
    written_by_programs = {
        "PARAMETERS.md",
        "benchmark.txt",
        "clients.txt",
        "mutation-score.txt",
        "mutations.txt",
    }
    assert set(RECORDS) == {f"{name}.txt" for name in PROBES} | written_by_programs


def read(record: str) -> str:
    return (ROOT / "evidence" / record).read_text()


def test_the_benchmarks_record_has_every_case_with_candors_figures() -> None:
    cases: dict[str, list[str]] = {}
    for line in recorded("benchmark"):
        if line.startswith("  ") and cases:
            cases[next(reversed(cases))].append(line)
        elif line and not line[0].isspace():
            cases[line] = []
    tables = [cases.get(title, []) for title in TITLES.values()]
    assert [bool(table) for table in tables] == [True] * 6, HOW.format(name="benchmark")
    for head, *figures in tables:
        assert head.split()[:2] == ["direct", "candor"]
        assert len(figures) >= 2
        assert all(len(figure.split()) >= 3 for figure in figures)
    assert [line.split()[0] for line in cases[GROWTH]] == ["messages", "2", "74", "218", "866"]


def test_a_record_that_takes_minutes_is_named_and_cannot_only_be_looked_at() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "evidence", "--look", "benchmark"], cwd=ROOT, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (
        2,
        "python -m evidence: error: benchmark cannot only look",
    )


def test_the_clients_record_has_a_good_row_for_every_scenario() -> None:
    collect = ["--collect-only", "-q", "-o", "python_files=scenario_*.py", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *collect, "tests/clients"], cwd=ROOT, capture_output=True, text=True
    )
    wanted = collections.Counter(scenario_of(line) for line in done.stdout.splitlines() if "::" in line)
    head, *rows = recorded("clients")
    column = slice(head.index("scenario"), head.index("requests"))
    assert wanted.total() > 300
    assert head.split() == list(COLUMNS)
    assert collections.Counter(row[column].strip() for row in rows) == wanted, "run `make clients`"
    assert {row.split()[-1] for row in rows} == {"ok"}, "run `make clients`"
