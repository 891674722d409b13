"""The truth test of one ledger row: what Candor says of every sample, held against what the upstream parsed.

Each sample is sent to the connect upstream as it is by default and with its switches on, and, where the row needs
a feature, to the upstream that has none. What the reply claims (forwarded, emulated, ignored, refused) is then
proved on the bytes, and the claims must be those that the row makes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.ledger import Disposition, Parameter
from app.turn.features import Feature
from tests.truth.case import Case
from tests.truth.cases import case_for, samples_of
from tests.truth.refusal import refused_paths
from tests.truth.stage import HOUSES, LOCAL, Answer, Stage
from tests.truth.wire import at, leaves, missing

FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
IGNORED, REFUSED = Disposition.IGNORED, Disposition.REFUSED

NOWHERE_YET = frozenset({Feature.STRUCTURED_OUTPUT, Feature.TOOL_ERROR_FLAG})
"""Features that no upstream has today; their rows are proved as they are without."""


_LOCAL_CARRIES = ("model", "messages[]", "messages[].text", "messages[].source")
"""What of the wire has its like on the upstream that carries text alone."""


@dataclass(frozen=True)
class Seen:
    """One sample in one house: the request, the answer, and what the answer says of the sample's path."""

    house: str
    case: Case
    answer: Answer
    claims: frozenset[Disposition]


Check = Callable[[Stage, str, Parameter, list[Seen]], None]
"""An observable effect: raises AssertionError when what was seen does not have it."""


def prove(
    stage: Stage, surface: str, row: Parameter, effect: Check | None, expected: tuple[str, ...] | None
) -> None:
    """Raise AssertionError unless everything that is said of ``row`` is so.

    ``effect`` is the check of a row whose effect is not that its samples are in its wire field; ``expected`` is
    how the wire spells the samples where it does not spell them as the caller does.
    """
    assert row.reason, "a row says why"
    seen = [_look(stage, surface, row, sample, house) for house in _houses(row) for sample in samples_of(row)]
    for each in seen:
        _prove_claims(stage, surface, row, each)
    _prove_disposition(row, seen)
    if _today(row) in (FORWARDED, EMULATED):
        if effect is not None:
            effect(stage, surface, row, [each for each in seen if each.answer.status == 200])
        else:
            assert row.wire is not None, (
                "a row that is served names its wire field, or has a check of its effect"
            )
            _prove_carried(row, seen, expected)
    elif _today(row) is IGNORED and not row.silent:
        if effect is not None:
            effect(stage, surface, row, [each for each in seen if each.answer.status == 200])
        else:
            _prove_off_the_wire(row, seen)


def _today(row: Parameter) -> Disposition:
    """What becomes of the row on the connect upstream with all its switches on."""
    return row.without if row.feature in NOWHERE_YET else row.disposition


def _houses(row: Parameter) -> list[str]:
    """Where the row is proved: a fixed fate in one house, others wherever they may differ."""
    if row.feature is None and row.rule is None and row.disposition in (IGNORED, REFUSED):
        return ["plain"]
    return [*HOUSES, LOCAL] if row.feature is not None or row.wire is not None else list(HOUSES)


def _look(stage: Stage, surface: str, row: Parameter, sample: Any, house: str) -> Seen:
    case = case_for(surface, row, sample)
    answer = stage.ask(surface, case, house=house)
    return Seen(house, case, answer, _claims(surface, row, case, house, answer))


def _claims(surface: str, row: Parameter, case: Case, house: str, answer: Answer) -> frozenset[Disposition]:
    """What a reply says of the sample: about its path, or a place inside it that has no row of its own."""
    if answer.status != 200:
        named = refused_paths(surface, answer)
        if house == LOCAL:  # which refuses much of what stands around a sample
            about = case.path in named
        else:
            about = any(_is_about(path, case.path) for path in named)
        return frozenset({REFUSED} if about else ())
    claims = set()
    if _names(answer.ignored, case.path, row):
        claims.add(IGNORED)
    if _names(answer.emulated, case.path, row):
        claims.add(EMULATED)
    return frozenset(claims) or frozenset({FORWARDED})


def _names(paths: list[str], path: str, row: Parameter) -> bool:
    below = row.rule is not None and not row.silent
    return any(named == path or (below and named in (f"{path}.type", f"{path}.strict")) for named in paths)


def _prove_claims(stage: Stage, surface: str, row: Parameter, seen: Seen) -> None:
    if REFUSED in seen.claims:
        _prove_refused(stage, surface, seen)
    elif seen.claims == {FORWARDED} and seen.house == LOCAL:
        decided = row.silent or row.exact or row.rule is not None or row.is_neutral(seen.case.sample)
        said = [path for path in seen.answer.ignored if path.startswith(f"{seen.case.path}.")]
        assert decided or said or row.wire in _LOCAL_CARRIES, (
            "the upstream without features carries text alone"
        )
    elif not seen.claims:
        assert seen.house == LOCAL, f"something else is refused: {seen.answer.text}"
    elif seen.house != LOCAL:
        assert len(seen.answer.captures) == 1
        assert seen.answer.captures[0]["unknown_fields"] == []
    if IGNORED in seen.claims and not row.silent:
        _prove_ignored(stage, surface, row, seen)


def _prove_refused(stage: Stage, surface: str, seen: Seen) -> None:
    """A 400 in the surface's own words that names the path, and no turn; streaming and not."""
    for stream in (False, True):
        answer = stage.ask(surface, seen.case, house=seen.house, stream=stream)
        assert answer.status == 400, answer.text
        assert answer.captures == []
        assert "x-candor-ignored" not in answer.headers
        named = refused_paths(surface, answer)
        assert any(_is_about(path, seen.case.path) for path in named), (named, seen.case.path)


def _is_about(named: str, path: str) -> bool:
    """Whether a refusal of ``named`` is a refusal of what stands at ``path``: it, what holds it, its kind."""
    return (
        path == named
        or path.startswith((f"{named}.", f"{named}[", f"{_object_of(named)}."))
        or named.startswith(
            (f"{path}.", f"{_object_of(path)}." if path.endswith((".type", ".role")) else ".")
        )
    )


def _object_of(path: str) -> str:
    """The path of the object whose kind ``path`` names."""
    return path.removesuffix(".type").removesuffix(".role")


def _prove_ignored(stage: Stage, surface: str, row: Parameter, seen: Seen) -> None:
    """200 and named, streaming and not; counted once a request; warned of once; a 400 where handling is strict."""
    house = "plain" if seen.house == LOCAL else seen.house
    stage.forget_warnings(house)
    before = stage.ignored_count(surface, row.path, house)
    answers = [stage.ask(surface, seen.case, house=seen.house, stream=stream) for stream in (False, True)]
    for answer in answers:
        assert answer.status == 200
        assert _names(answer.ignored, seen.case.path, row)
    assert stage.ignored_count(surface, row.path, house) - before == len(answers)
    warned = [
        line
        for answer in answers
        for line in answer.warnings
        if (line.get("surface"), line.get("parameter")) == (surface, row.path)
    ]
    assert len(warned) == 1, warned
    strict = stage.ask(surface, seen.case, house=seen.house, strict=True)
    assert strict.status == 400, strict.text
    assert strict.captures == []
    assert strict.headers["preference-applied"] == "handling=strict"
    assert any(_is_about(path, seen.case.path) for path in refused_paths(surface, strict))


def _prove_disposition(row: Parameter, seen: list[Seen]) -> None:
    """What the row says becomes of it is what is seen; ``neutral`` samples ask for nothing."""
    asked = [each for each in seen if not row.is_neutral(each.case.sample)]
    if row.feature is None and row.rule is None:
        asked = [each for each in asked if each.house != LOCAL]
    claims = {claim for each in asked for claim in each.claims}
    for each in seen:
        if row.is_neutral(each.case.sample):
            assert IGNORED not in each.claims
            assert REFUSED not in each.claims or each.house == LOCAL
    if row.silent:
        assert (REFUSED in claims) == (row.disposition is REFUSED)
        return
    wanted = set()
    if row.feature not in NOWHERE_YET:
        wanted.add(row.disposition)
    if row.feature is not None and any(each.claims for each in asked if each.house == LOCAL):
        wanted.add(row.without)
    if row.exact or row.disposition is FORWARDED:
        claims |= {row.disposition} if FORWARDED in claims else set()
    assert wanted <= claims, (wanted, claims)
    if row.rule is None:
        assert claims - {FORWARDED} <= wanted | {row.disposition} | _decoded(row), claims


def _decoded(row: Parameter) -> set[Disposition]:
    """A decoder may find more than a row without a rule can: said in its reason."""
    return {EMULATED, IGNORED} if row.disposition is FORWARDED else set()


def _prove_carried(row: Parameter, seen: list[Seen], expected: tuple[str, ...] | None) -> None:
    """Every sample is in the wire field somewhere, and two samples give two values."""
    assert row.wire is not None
    samples = samples_of(row)
    always = row.feature is None  # then no switch may be needed
    values: list[list[Any]] = []
    for number, _ in enumerate(samples):
        best: list[Any] | None = None
        problem: Any = "no house serves it"
        for each in seen[number :: len(samples)]:
            if each.house == LOCAL or each.answer.status != 200:
                continue
            if always and each.house != "plain":
                continue
            there = at(each.answer.wire, row.wire)
            wanted = expected[number] if expected is not None else each.case.sample
            assert row.is_neutral(wanted) or any(leaves(wanted)), "a sample that could be seen on the wire"
            lacking = missing(wanted, there)
            if row.is_neutral(each.case.sample) or not lacking:
                best = there
            else:
                problem = (lacking, there)
        assert best is not None, problem
        values.append(best)
    different = {str(value) for value in values}
    assert len(different) == len(samples) or expected is not None, values


def _prove_off_the_wire(row: Parameter, seen: list[Seen]) -> None:
    """Values that are ignored leave no trace: two of them make one and the same message."""
    if "=" in row.path.rpartition(".")[2]:
        return  # a whole object of a kind, of which other rows speak
    wires = [
        each.answer.wire
        for each in seen
        if each.claims == {IGNORED} and each.house == "plain" and not row.is_neutral(each.case.sample)
    ]
    assert all(wire == wires[0] for wire in wires[1:])
