"""What reading a history costs, step by step, in this process."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from app.bodies import parse_object
from app.seals import Seals
from app.settings import load
from app.surfaces import chat_completions
from app.surfaces.surface import RequestFacts, SurfaceTools
from app.upstreams.connect.coordinates import coordinates
from app.upstreams.connect.encode import Identity, RequestEncoder
from app.upstreams.connect.upstream import CONFIRMED
from tests.bench.answers import CASES, agent_body, agent_messages

ROUNDS = (0, 24, 72, 288)
"""Rounds of an agent's work, three messages each."""


def decode_cost_ms(rounds: int = 72, repeats: int = 60) -> dict[str, float]:
    """Milliseconds of each step for a history of ``rounds``, the least of ``repeats``."""
    raw = agent_body(CASES["history"], rounds)
    surface = chat_completions.create(SurfaceTools(Seals(b"bench")))
    encoder = RequestEncoder(CONFIRMED, coordinates(load({})), Identity("candor", "1"))
    facts = RequestFacts({})
    body = parse_object(raw)
    turn = surface.decode(body, facts).turn
    return {
        "JSON": least_ms(lambda: parse_object(raw), repeats),
        "ledger walk": least_ms(lambda: surface.ledger.walk(body), repeats),
        "decode": least_ms(lambda: surface.decode(body, facts), repeats),
        "encode": least_ms(lambda: encoder.encode(turn, "model", "token"), repeats),
    }


def least_ms(step: Callable[[], Any], repeats: int) -> float:
    """The shortest of ``repeats`` runs of ``step``, in milliseconds of this thread's CPU time."""
    shortest = float("inf")
    for _ in range(repeats):
        started = time.thread_time()
        step()
        shortest = min(shortest, time.thread_time() - started)
    return shortest * 1000


def print_growth() -> None:
    """A line for each length of history."""
    print("\nA history on its way from the caller to the upstream, in this process, in ms")
    print(f"  {'messages':<12}{'kB':>8}" + "".join(f"{step:>14}" for step in decode_cost_ms(0, 1)))
    for rounds in ROUNDS:
        costs = decode_cost_ms(rounds)
        size = len(agent_body(CASES["history"], rounds)) / 1000
        print(
            f"  {len(agent_messages(rounds)):<12}{size:>8.0f}"
            + "".join(f"{ms:>14.3f}" for ms in costs.values())
        )
