"""Which documented paths no row of a ledger lists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from tests.truth.case import split_kind, steps_of

Step = tuple[str, tuple[str, str] | None]
"""A name, and the kind of object that is selected where it stands, if one is."""

_TAG_NAMES = ("type", "role", "mode")


def _read(path: str) -> tuple[Step, ...]:
    """The steps of a path; a kind at its end is a selection without a name."""
    path = path.partition("[]=")[0]  # a value of a list of strings
    holder, name, kind = split_kind(path)
    steps = [(step, selected) for step, selected, _ in steps_of(holder)] if holder else []
    if kind is None:
        return (*steps, (name.partition("[")[0], None))
    return (*steps, (name, (name, kind)))


def _agree(one: Iterable[Step], other: Iterable[Step]) -> bool:
    """Whether two paths of the same names can mean the same place: no step selects two different kinds."""
    return all(a is None or b is None or a == b for (_, a), (_, b) in zip(one, other, strict=False))


class Coverage:
    """The rows of one ledger. ``same``: places that hold what another place holds, as the ledger is told of them."""

    def __init__(self, rows: Iterable[str], same: Mapping[str, str] | None = None) -> None:
        self._rows: dict[tuple[str, ...], list[tuple[Step, ...]]] = defaultdict(list)
        self._looked_into: dict[tuple[str, ...], list[tuple[Step, ...]]] = defaultdict(list)
        for row in rows:
            steps = _read(row)
            names = _names(steps)
            self._rows[names].append(steps)
            for length in range(1, len(names)):
                self._looked_into[names[:length]].append(steps[:length])
        self._same = [(_read(place), _read(model)) for place, model in (same or {}).items()]

    def missing(self, paths: Iterable[str]) -> list[str]:
        """The paths that a request may have and no row speaks of."""
        return [path for path in paths if not self._covers(self._moved(_read(path)))]

    def _moved(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        for place, model in self._same:
            length = len(place)
            if _names(steps)[:length] == _names(place) and _agree(steps, place):
                return self._moved((*model[:-1], (model[-1][0], steps[length - 1][1]), *steps[length:]))
        return steps

    def _covers(self, steps: tuple[Step, ...]) -> bool:
        if self._has(steps):
            return True
        name, kind = steps[-1]
        if name in _TAG_NAMES and kind is None and self._has((*steps[:-1], (name, None)), any_kind=True):
            return True
        return (kind is not None or len(steps) > 2) and self._is_inside_a_whole(steps)

    def _has(self, steps: tuple[Step, ...], *, any_kind: bool = False) -> bool:
        rows = self._rows.get(_names(steps), ())
        return any(
            _agree(steps, row)
            and (any_kind or (row[-1][1] is None) == (steps[-1][1] is None) or row[-1][1] is None)
            for row in rows
        )

    def _is_inside_a_whole(self, steps: tuple[Step, ...]) -> bool:
        """Whether a row decides, without looking into it, on an object that holds this."""
        for length in range(len(steps) - 1, 0, -1):
            holder = steps[:length]
            if self._has(holder):
                return not any(_agree(holder, each) for each in self._looked_into.get(_names(holder), ()))
        return False


def _names(steps: Iterable[Step]) -> tuple[str, ...]:
    return tuple(name for name, _ in steps)
