"""Faults that scenarios put before a client: what the upstream answers with, and what a drought is made of."""

from __future__ import annotations

import time
from collections.abc import Callable

import requests

from fake_upstream import scenarios as s
from tests.clients.client import KEY
from tests.clients.world import World

NewWorld = Callable[..., World]
"""The fixture ``fresh_world``: a world with a Candor of its own, with the given switches."""

HALF = "FIRST-HALF"
"""What an answer begins with that does not come to its end."""

FELL = "the model fell over"


def halve(world: World, last: s.JsonStep, times: int = 1) -> None:
    """Have the next answers say half of something and go on with ``last``; ``times=0`` is for ever."""
    world.fake.queue([s.text(f"{HALF} "), s.sleep(300), last], times=times)


def limit(world: World, seconds: str, times: int = 1) -> None:
    """Have the upstream refuse the next turns with a 429 that asks for ``seconds`` of patience."""
    refusal = s.http_error(429, "resource_exhausted", "slow down", headers={"retry-after": seconds})
    world.fake.queue([refusal], times=times)


def ask_beside(world: World) -> int:
    """The status of a turn with ``fake-agent`` that is not the client's, nor recorded."""
    reply = requests.post(
        f"http://{world.recorder.target}/v1/chat/completions",
        json={"model": "fake-agent", "messages": [{"role": "user", "content": "hi"}]},
        headers={"authorization": f"Bearer {KEY}"},
        timeout=30,
    )
    return reply.status_code


def shut(world: World) -> None:
    """Leave no token that can serve."""
    limit(world, "600")
    assert ask_beside(world) == 429


def dry(world: World) -> None:
    """Begin a drought: from here on only free models are served."""
    world.fake.queue([s.quota(100), s.text("hi"), s.finish(), s.end()])
    assert ask_beside(world) == 200
    deadline = time.monotonic() + 5
    while (status := ask_beside(world)) == 200 and time.monotonic() < deadline:
        time.sleep(
            0.1
        )  # what an answer told of the quota is noted when its turn is over, which may be after it
    assert status == 503
