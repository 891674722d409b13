"""Committed evidence says what the probes find now. Dates, versions and commits stand in its heading, apart."""

from __future__ import annotations

import importlib

import pytest

from evidence.__main__ import names
from evidence.probe import heading, in_process, recorded
from tests.support.servers import ROOT

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
