"""OpenAI's SDK on a served Candor, and what both of its surfaces are asked in tests."""

from __future__ import annotations

from typing import Any

from openai import OpenAI

from fake_upstream import FakeUpstream
from fake_upstream.scenarios import finish, tool_args, tool_call, usage

TWO_CALLS = [
    tool_call(0, "call_a", "f"),
    tool_call(1, "call_b", "g"),
    tool_args(0, '{"x":'),
    tool_args(1, '{"y":'),
    tool_args(0, '"1"}'),
    tool_args(1, '"2"}'),
    usage(fresh=10, completion=9),
    finish(),
]
"""An upstream's turn: two calls whose fragments are interleaved."""


def sdk(url: str) -> OpenAI:
    """A client that validates what it reads and never tries again."""
    return OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0, _strict_response_validation=True)


def captured(fake: FakeUpstream, count: int = 1) -> list[Any]:
    """The messages of all captures, each of which the fake upstream understood to the last byte."""
    captures = fake.captures()
    assert [capture["unknown_fields"] for capture in captures] == [[]] * count
    return [capture["message"] for capture in captures]
