"""Committed evidence says what the probes find now. Dates, versions and commits stand in its heading, apart."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from evidence.__main__ import names
from evidence.probe import heading, in_process, recorded
from tests.bench.__main__ import TITLES
from tests.support.servers import ROOT

GROWTH = "A history on its way from the caller to the upstream, in this process, in ms"

PROBES = [name for name in names() if hasattr(importlib.import_module(f"evidence.{name}"), "observe")]
HOW = "run `.venv/bin/python -m evidence {name}`, look at what changed and commit it"


@pytest.mark.parametrize("name", PROBES)
def test_committed_evidence_is_what_the_probe_finds(name: str) -> None:
    probe = importlib.import_module(f"evidence.{name}")
    assert recorded(name) == probe.observe(in_process), HOW.format(name=name)


@pytest.mark.parametrize("name", PROBES)
def test_committed_evidence_has_its_heading(name: str) -> None:
    title, about, blank = (ROOT / "evidence" / f"{name}.txt").read_text().splitlines()[:3]
    assert (title, blank) == (importlib.import_module(f"evidence.{name}").TITLE, "")
    assert [part.split(" ")[0] for part in about.split(", ")][1:] == [
        part.split(" ")[0] for part in heading(title)[1].split(", ")
    ][1:]


def test_every_record_has_a_probe_or_a_program_that_writes_it() -> None:
    written_by_programs = {"benchmark", "clients", "mutation-score", "parameters"}
    records = {path.stem for path in (ROOT / "evidence").glob("*.txt")}
    assert records - set(PROBES) - written_by_programs == set()


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
