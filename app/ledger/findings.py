"""Judging what a walk observed: which parameters are ignored, emulated or refused for this turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from app.ledger.ledger import Ledger, Note, Observation
from app.ledger.parameter import Disposition, Outcome, Parameter
from app.turn.faults import FaultKind, TurnFault
from app.turn.features import Feature
from app.turn.tool_choice import ToolPlan
from app.turn.turn import Turn

HEADER_BYTES = 1024
_HEADER_SAFE = ".[]=:-_"
_INDEX = re.compile(r"\[(\d+)\]")


@dataclass(slots=True)
class Context:
    """What a row's rule may look at. ``switch_for`` names the setting that would add a feature, or None."""

    turn: Turn
    features: frozenset[Feature]
    switch_for: Callable[[Feature], str | None]
    tool_plan: ToolPlan


@dataclass(frozen=True, slots=True)
class Finding:
    """One parameter of this request that was not simply forwarded."""

    row: Parameter
    path: str
    outcome: Outcome

    @property
    def disposition(self) -> Disposition:
        """What became of it."""
        return self.outcome.disposition


@dataclass(slots=True)
class Findings:
    """All findings of one request, each list in document order."""

    ignored: list[Finding] = field(default_factory=list)
    emulated: list[Finding] = field(default_factory=list)

    def headers(self) -> list[tuple[str, str]]:
        """``x-candor-ignored`` and ``x-candor-emulated``, each only when there is something to say."""
        headed = [finding.path for finding in self.emulated if not finding.outcome.exact]
        pairs = (
            ("x-candor-ignored", render_paths(finding.path for finding in self.ignored)),
            ("x-candor-emulated", render_paths(headed)),
        )
        return [(name, value) for name, value in pairs if value]


def render_paths(paths: Iterable[str]) -> str:
    """Header grammar: each path once, joined by ``, ``; odd bytes percent-encoded; at most 1024 bytes, then ``+n``."""
    unique = list(dict.fromkeys(quote(path, safe=_HEADER_SAFE).replace("~", "%7E") for path in paths))
    text = ", ".join(unique)
    if len(text) <= HEADER_BYTES:
        return text
    kept: list[str] = []
    length = 0
    for position, path in enumerate(unique):
        rest = f"+{len(unique) - position}"
        if length + len(path) + 2 + len(rest) > HEADER_BYTES:
            return ", ".join([*kept, rest])
        kept.append(path)
        length += len(path) + 2
    return ", ".join(kept)


def judge(
    ledger: Ledger,
    observations: Sequence[Observation],
    notes: Sequence[Note],
    body: Any,
    context: Context,
    *,
    strict: bool,
    strict_rows: frozenset[str],
) -> Findings:
    """Sort what was observed into findings.

    Raises an UNSUPPORTED_PARAMETER fault when anything is refused: its ``param`` is the first in document
    order, its text lists all. ``strict`` refuses whatever would be ignored, ``strict_rows`` the rows it names.
    """
    all_findings = [
        Finding(seen.row, outcome.at or seen.path + outcome.below, outcome)
        for seen in observations
        for outcome in seen.row.outcomes(seen.value, context, seen.path)
    ]
    if notes:
        said = {(finding.row.path, finding.path, finding.disposition) for finding in all_findings}
        all_findings.extend(
            Finding(ledger.rows[note.row_path], note.path, Outcome(note.disposition))
            for note in notes
            if (note.row_path, note.path, note.disposition) not in said
        )
    if notes or any(finding.outcome.at is not None for finding in all_findings):
        places = _Places(body)
        all_findings.sort(key=lambda finding: places.of(finding.path))
    findings = Findings()
    refused: list[Finding] = []
    for finding in all_findings:
        disposition = finding.disposition
        if disposition is Disposition.REFUSED:
            refused.append(finding)
        elif disposition is Disposition.IGNORED:
            if strict or finding.row.path in strict_rows:
                refused.append(finding)
            findings.ignored.append(finding)
        elif disposition is Disposition.EMULATED:
            findings.emulated.append(finding)
    if refused:
        raise _refusal(refused, context)
    return findings


def _refusal(refused: list[Finding], context: Context) -> TurnFault:
    first = refused[0]
    problem = reason = first.outcome.problem or first.row.reason
    if first.outcome.feature is not None:
        switch = context.switch_for(first.outcome.feature)
        if switch is not None:
            problem = f"{problem.rstrip('.')}; {switch} would honour it"
    paths = list(dict.fromkeys(finding.path for finding in refused))
    return TurnFault(
        FaultKind.UNSUPPORTED_PARAMETER,
        problem,
        param=first.path,
        code=first.outcome.code,
        details={"refused": paths, "reason": reason, "rows": [finding.row for finding in refused]},
    )


class _Places:
    """Where paths stand in one body, for sorting: the index of each key and element on the way.

    The keys of an object are numbered once, however many paths lead through it.
    """

    def __init__(self, body: Any) -> None:
        self._body = body
        self._keys: dict[int, tuple[dict[str, int], list[int]]] = {}

    def of(self, path: str) -> tuple[int, ...]:
        """The place of ``path``, as far as it can be followed."""
        position: list[int] = []
        holder, rest = self._body, path
        while rest:
            if isinstance(holder, dict):
                key = self._longest_key(holder, rest)
                if key is None:
                    break
                position.append(self._numbered(holder)[0][key])
                holder, rest = holder[key], rest[len(key) :].removeprefix(".")
            elif isinstance(holder, list) and (match := _INDEX.match(rest)) and int(match[1]) < len(holder):
                index = int(match[1])
                position.append(index)
                holder, rest = holder[index], rest[match.end() :].removeprefix(".")
            else:
                break
        return tuple(position)

    def _longest_key(self, holder: dict[str, Any], rest: str) -> str | None:
        """The longest key that ``rest`` begins with: keys may have dots and brackets of their own."""
        if rest in holder:
            return rest
        for length in self._numbered(holder)[1]:
            if length < len(rest) and rest[length] in ".[" and rest[:length] in holder:
                return rest[:length]
        return None

    def _numbered(self, holder: dict[str, Any]) -> tuple[dict[str, int], list[int]]:
        """The number of each key, and the lengths that keys have, longest first."""
        numbered = self._keys.get(id(holder))
        if numbered is None:
            numbers = {key: number for number, key in enumerate(holder)}
            numbered = numbers, sorted({len(key) for key in holder}, reverse=True)
            self._keys[id(holder)] = numbered
        return numbered
