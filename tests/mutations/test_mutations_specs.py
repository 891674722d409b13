"""The committed specs: well formed, all families there, every anchor in its file once, and all of them on record."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.probe import recorded
from tests.mutations.record import evidence
from tests.mutations.spec import FAMILIES, Mutation, read_all

ROOT = Path(__file__).parents[2]
MUTATIONS = read_all(Path(__file__).parent / "specs")


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.title)
def test_the_anchor_is_in_its_file_exactly_once(mutation: Mutation) -> None:
    text = (ROOT / mutation.file).read_text()
    assert mutation.apply(text) != text


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.title)
def test_the_mutated_file_is_python(mutation: Mutation) -> None:
    compile(mutation.apply((ROOT / mutation.file).read_text()), mutation.file, "exec")


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.title)
def test_the_spec_says_what_to_expect_and_why(mutation: Mutation) -> None:
    assert mutation.baseline > 0
    assert mutation.red or mutation.survives
    assert len(mutation.why) > 10
    assert all(part.partition("::")[0] for part in mutation.tests)
    assert {node.partition("::")[0] for node in mutation.red} <= {
        part.partition("::")[0] for part in mutation.tests
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_of_every_family_several_mutations_are_caught(family: str) -> None:
    caught = [mutation for mutation in MUTATIONS if mutation.family == family and not mutation.survives]
    assert len({(mutation.file, mutation.anchor, mutation.replacement) for mutation in caught}) >= 2


def test_the_record_is_of_these_mutations() -> None:
    assert recorded("mutations") == evidence(MUTATIONS), (
        "run `make mutate ARGS=--evidence` and commit its record"
    )
