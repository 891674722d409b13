"""What the pipeline does with a body before an upstream sees it, for tests of one surface with OpenAI's errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson
import pytest

from app.ledger import Context, Findings, judge
from app.surfaces.surface import Decoded, RequestFacts, Surface
from app.turn.faults import TurnFault
from app.turn.features import Feature
from app.turn.tool_choice import plan


@dataclass(frozen=True)
class Judging:
    """Decodes and judges requests of ``surface``, by default for an upstream with ``features``."""

    surface: Surface
    features: frozenset[Feature]

    def decode(self, request: dict[str, Any]) -> Decoded:
        """The ledger walks the body, then the surface decodes it."""
        self.surface.ledger.walk(request)
        return self.surface.decode(request, RequestFacts({}))

    def refused(self, request: dict[str, Any]) -> tuple[str | None, str | None]:
        """(param, code) of the 400 that decoding ``request`` ends in."""
        with pytest.raises(TurnFault) as caught:
            self.decode(request)
        reply = self.surface.fault_reply(caught.value, "req_1")
        assert reply.status == 400
        error = orjson.loads(reply.body)["error"]
        assert error["type"] == "invalid_request_error"
        return error["param"], error["code"]

    def findings(
        self,
        request: dict[str, Any],
        features: frozenset[Feature] | None = None,
        *,
        strict: bool = False,
        switch: str | None = None,
    ) -> Findings:
        """The ledger's findings for ``request`` on an upstream with ``features``."""
        carried = self.features if features is None else features
        observations = self.surface.ledger.walk(request)
        decoded = self.surface.decode(request, RequestFacts({}))
        turn = decoded.turn
        context = Context(
            turn,
            carried,
            lambda feature: switch,
            plan(turn.tool_choice, turn.tools, carries_choice=Feature.TOOL_CHOICE in carried),
        )
        return judge(
            self.surface.ledger,
            observations,
            decoded.notes,
            request,
            context,
            strict=strict,
            strict_rows=frozenset(),
        )
