"""What the tests of this surface share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.ledger import Context, Findings, judge
from app.seals import Seals
from app.surfaces.generate_content import create
from app.surfaces.generate_content.surface import GenerateContent
from app.surfaces.surface import Decoded, RequestFacts, SurfaceTools
from app.turn.faults import TurnFault
from app.turn.features import Feature
from app.turn.tool_choice import plan


def facts(stream: bool = False, **query: str) -> RequestFacts:
    return RequestFacts({}, query, path_model="m", path_stream=stream)


@pytest.fixture
def seals() -> Seals:
    return Seals(b"test key")


@pytest.fixture
def surface(seals: Seals) -> GenerateContent:
    return create(SurfaceTools(seals))


@pytest.fixture
def decode(surface: GenerateContent) -> Callable[..., Decoded]:
    """Walk and decode a body, as the pipeline does; keywords become the query."""

    def run(body: dict[str, Any], stream: bool = False, **query: str) -> Decoded:
        surface.ledger.walk(body)
        return surface.decode(body, facts(stream, **query))

    return run


@pytest.fixture
def decode_count(surface: GenerateContent) -> Callable[[dict[str, Any]], Decoded]:
    """The same for a body of countTokens."""

    def run(body: dict[str, Any]) -> Decoded:
        surface.counting.ledger.walk(body)
        return surface.counting.decode(body, facts())

    return run


@pytest.fixture
def fault_of(decode: Callable[..., Decoded]) -> Callable[..., tuple[str | None, str]]:
    """(param, problem) of the fault that a body is refused with."""

    def run(body: dict[str, Any], **query: str) -> tuple[str | None, str]:
        with pytest.raises(TurnFault) as caught:
            decode(body, **query)
        assert caught.value.kind.value == "invalid_request"
        return caught.value.param, caught.value.problem

    return run


@pytest.fixture
def find(surface: GenerateContent) -> Callable[..., Findings]:
    """The findings of a body on an upstream with the given features."""

    def run(
        body: dict[str, Any],
        features: frozenset[Feature] = frozenset(),
        *,
        strict: bool = False,
        counting: bool = False,
        **query: str,
    ) -> Findings:
        used = surface.counting if counting else surface
        seen = used.ledger.walk(body)
        decoded = used.decode(body, facts(**query))
        turn = decoded.turn
        context = Context(
            turn,
            features,
            lambda feature: f"SWITCH_{feature.name}=1",
            plan(turn.tool_choice, turn.tools, carries_choice=Feature.TOOL_CHOICE in features),
        )
        return judge(used.ledger, seen, decoded.notes, body, context, strict=strict, strict_rows=frozenset())

    return run
