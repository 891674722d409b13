"""The page of the ledgers in a real browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import requests

from tests.browser.browser import Page

SHOWN = "[...document.querySelectorAll('#ledger tbody tr:not([hidden])')]"
FOUND = "document.getElementById('found').value"


@pytest.fixture
def url(serve: Callable[..., str]) -> str:
    return serve()


@pytest.fixture
def page(browser: Page, url: str) -> Page:
    browser.complaints.clear()
    browser.open(f"{url}/parameters")
    return browser


def shown(page: Page, what: str) -> list[str]:
    """A value of each row that is shown."""
    values: list[str] = page.run(f"{SHOWN}.map(row => {what})")
    return values


def rows_of_json(url: str) -> list[tuple[str, str, str]]:
    surfaces = requests.get(f"{url}/parameters?format=json", timeout=10).json()["surfaces"]
    return [(surface, row["path"], row["disposition"]) for surface, rows in surfaces.items() for row in rows]


def test_the_page_shows_every_row_of_the_ledgers(page: Page, url: str) -> None:
    triple = "[row.dataset.surface, row.querySelector('code').textContent, row.dataset.disposition]"
    assert [tuple(row) for row in page.run(f"{SHOWN}.map(row => {triple})")] == rows_of_json(url)
    assert page.run(FOUND) == f"{len(rows_of_json(url))} parameters"
    assert page.complaints == []


def test_the_search_finds_by_path_reason_and_wire_field(page: Page) -> None:
    page.run("document.getElementById('text').focus()")
    page.type("disable_parallel_tool_calls")
    paths = shown(page, "row.querySelector('code').textContent")
    assert paths == ["parallel_tool_calls", "parallel_tool_calls", "tool_choice.disable_parallel_tool_use"]
    assert page.run(FOUND) == "3 parameters"
    assert page.run("location.search") == "?q=disable_parallel_tool_calls"


def test_several_words_must_all_be_there(page: Page) -> None:
    page.run("document.getElementById('text').focus()")
    page.type("SEED ignored generateContent")
    assert shown(page, "row.querySelector('code').textContent") == ["generationConfig.seed"]
    assert page.run(FOUND) == "1 parameter"


def test_rows_are_filtered_by_surface_and_disposition(page: Page, url: str) -> None:
    for name, kept in (("surface", "messages"), ("disposition", "refused")):
        page.run(
            f"for (const box of document.forms[0].elements['{name}']) if (box.value !== '{kept}') box.click()"
        )
    wanted = [path for surface, path, fate in rows_of_json(url) if (surface, fate) == ("messages", "refused")]
    assert shown(page, "row.querySelector('code').textContent") == wanted


def test_a_filter_is_kept_in_the_address_and_found_there_again(page: Page, url: str) -> None:
    page.open(f"{url}/parameters?q=tool&surface=chat_completions&details=0")
    assert set(shown(page, "row.dataset.surface")) == {"chat_completions"}
    assert page.run("document.forms[0].q.value") == "tool"
    assert page.run(f"{SHOWN}.some(row => row.classList.contains('detail'))") is False


def test_details_can_be_left_out(page: Page) -> None:
    everything = len(shown(page, "1"))
    page.run("document.forms[0].elements.details.click()")
    assert 0 < len(shown(page, "1")) < everything


def test_the_filters_are_worked_by_the_keyboard_alone(page: Page) -> None:
    page.run("document.getElementById('text').focus()")
    page.press("Tab", 9)
    assert page.run("document.activeElement.value") == "chat_completions"
    before = len(shown(page, "1"))
    page.press(" ", 32)
    page.run("document.activeElement.checked ? document.activeElement.click() : 0")
    assert len(shown(page, "1")) < before


def test_the_page_asks_the_network_for_nothing(page: Page) -> None:
    assert page.run("performance.getEntriesByType('resource').map(entry => entry.name)") == []
    assert page.run("document.querySelectorAll('[src], link[rel=stylesheet]').length") == 0


def test_every_control_has_a_name_and_the_table_a_caption(page: Page) -> None:
    assert page.run(
        "[...document.forms[0].querySelectorAll('input')].every(each => each.labels.length === 1)"
    )
    assert page.run("document.querySelector('#ledger caption').textContent.length > 0")
    assert page.run("[...document.querySelectorAll('#ledger tbody th')].every(each => each.scope === 'row')")
    assert page.run("document.getElementById('found').getAttribute('aria-live')") == "polite"
    assert page.run("document.documentElement.lang") == "en"


def test_live_counts_and_unknown_parameters_are_shown_to_operators(page: Page, url: str) -> None:
    body = {"model": "fake-echo", "messages": [{"role": "user", "content": "hi"}], "seed": 1, "colour": "red"}
    for _ in range(2):
        requests.post(f"{url}/v1/chat/completions", json=body, timeout=10)
    page.open(f"{url}/parameters?q=seed&surface=chat_completions")
    assert shown(page, "row.querySelector('td.number').textContent.trim()") == ["2 ignored"]
    unlisted = page.run("document.getElementById('unlisted').textContent")
    assert "colour" in unlisted


def test_a_narrow_window_shows_the_rows_without_scrolling_sideways(page: Page) -> None:
    page.send("Emulation.setDeviceMetricsOverride", width=380, height=800, deviceScaleFactor=1, mobile=False)
    assert page.run("document.documentElement.scrollWidth <= window.innerWidth")
    page.send("Emulation.clearDeviceMetricsOverride")
