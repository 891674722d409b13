"""One row of a ledger: a documented parameter and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from app.turn.features import Feature

if TYPE_CHECKING:
    from app.ledger.findings import Context


class Disposition(Enum):
    """The four things that can become of a parameter; there is no fifth."""

    FORWARDED = "forwarded"
    EMULATED = "emulated"
    IGNORED = "ignored"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of one value. ``below`` is appended to the row's path (``.type``); ``at`` replaces it whole.

    ``exact`` marks an emulation with precisely the documented effect: it is counted, not headed.
    ``feature`` is what the upstream would have to carry; ``code`` and ``problem`` word a refusal.
    """

    disposition: Disposition
    below: str = ""
    at: str | None = None
    exact: bool = False
    feature: Feature | None = None
    code: str | None = None
    problem: str | None = None


Rule = Callable[[Any, "Context", str], Sequence[Outcome]]
"""(value as sent, context, concrete path) -> outcomes; none at all means the value asks for nothing."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A documented parameter of one surface.

    ``path`` is as the caller writes it, with ``[]`` for any element: ``temperature``, ``messages[].name``.
    ``[tag=kind]`` selects elements (or the object itself) of one kind: ``input[type=reasoning].summary``.
    A path that ends in ``tag=kind`` is the row of that kind: ``messages[].content[].type=image_url``.

    ``disposition`` holds where the upstream carries ``feature`` (or where none is needed); ``without`` holds
    where it does not. ``neutral`` values ask for nothing and are free, as is null. ``rule`` decides by value.
    ``opaque`` values are not looked into. ``wire`` is the field of the captured message, ``samples`` are two
    values that differ in effect: both are what truth tests go by.

    ``silent`` rows are never a finding of their own: labels that ask for nothing, and details of something
    that another row decides as a whole (the fields of a tool kind that is refused).
    """

    path: str
    disposition: Disposition
    reason: str
    feature: Feature | None = None
    without: Disposition = Disposition.IGNORED
    exact: bool = False
    neutral: tuple[Any, ...] = ()
    rule: Rule | None = None
    samples: tuple[Any, ...] = ()
    wire: str | None = None
    hint_event: str | None = None
    code: str | None = None
    silent: bool = False

    @property
    def plain(self) -> bool:
        """Never a finding, whatever the value and the upstream: a walk need not stop at it."""
        if self.silent:
            return True
        return self.disposition is Disposition.FORWARDED and self.feature is None and self.rule is None

    def is_neutral(self, value: Any) -> bool:
        """Whether ``value`` asks for nothing. ``1`` is not ``True``; ``1.0`` is ``1``."""
        if value is None:
            return True
        for free in self.neutral:  # noqa: SIM110 (a generator costs more than the comparisons)
            if value == free and isinstance(value, bool) == isinstance(free, bool):
                return True
        return False

    def outcomes(self, value: Any, context: Context, path: str) -> Sequence[Outcome]:
        """What becomes of ``value`` here; empty when it asks for nothing."""
        if self.rule is not None:
            return self.rule(value, context, path)
        if self.feature is None or self.feature in context.features:
            return (Outcome(self.disposition, exact=self.exact, feature=self.feature, code=self.code),)
        return (Outcome(self.without, exact=self.exact, feature=self.feature, code=self.code),)
