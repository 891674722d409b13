"""responses: tools that later lists bring again take their places, in time that does not depend on how many."""

from __future__ import annotations

import time

from app.surfaces.responses.tools import ToolBook


def test_many_tools_that_come_again_take_their_places_at_once() -> None:
    """A search through the list for each of them takes many seconds for these."""
    names = [f"f{number}" for number in range(15_000)]
    book = ToolBook()
    book.read([{"type": "function", "name": name, "description": "old"} for name in names], "tools")
    again = [{"type": "function", "name": name, "description": "new"} for name in reversed(names)]
    began = time.process_time()
    book.read(again, "input[0].tools")
    assert time.process_time() - began < 3
    assert [tool.name for tool in book.tools] == names
    assert {tool.description for tool in book.tools} == {"new"}
