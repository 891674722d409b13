"""The fake upstream's page in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import requests

from fake_upstream import FakeUpstream
from tests.browser.browser import Page

RPC = "/exa.api_server_pb.ApiServerService/GetChatMessage"
HEADERS = {
    "content-type": "application/connect+proto",
    "connect-protocol-version": "1",
    "authorization": "Bearer dev-token",
}
HELLO = bytes.fromhex("0a0b1a096465762d746f6b656e1a0910011a0568656c6c6f5801aa01016d")
"""A message with #11 for the model ``m``."""
UNKNOWN_99 = bytes([0x9A, 0x06, 0x02]) + b"hi"
ARTICLES = "[...document.querySelectorAll('article')]"


def send(fake: FakeUpstream, message: bytes) -> None:
    """One request to the fake upstream, by hand."""
    envelope = b"\0" + len(message).to_bytes(4, "big") + message
    requests.post(fake.url + RPC, data=envelope, headers=HEADERS, timeout=10)


def ask(serve: Callable[..., str], text: str, **keys: Any) -> None:
    """One turn through Candor with both unconfirmed fields on."""
    url = serve(DEVIN_CONNECT_TOOL_CHOICE="1")
    body = {"model": "fake-tools", "messages": [{"role": "user", "content": text}], **keys}
    assert requests.post(f"{url}/v1/chat/completions", json=body, timeout=10).ok


@pytest.fixture
def page(browser: Page, fake: FakeUpstream) -> Page:
    browser.complaints.clear()
    return browser


def ids(page: Page) -> list[str]:
    """The captures that are shown, from the top."""
    shown: list[str] = page.run(f"{ARTICLES}.map(article => article.id)")
    return shown


def test_the_newest_capture_is_on_top_and_decoded(page: Page, fake: FakeUpstream) -> None:
    send(fake, HELLO)
    send(fake, HELLO.replace(b"hello", b"again"))
    first, second = (capture["id"] for capture in fake.captures())
    page.open(f"{fake.url}/_fake/")
    assert ids(page) == [second, first]
    top: str = page.run(f"{ARTICLES}[0].innerText")
    for text in ("completed", "model m", "dev-token", "“again”", "session_token"):
        assert text in top
    assert page.run("document.getElementById('count').textContent") == "2 of 2, newest first"
    assert page.complaints == []


def test_fields_11_and_12_are_marked(page: Page, fake: FakeUpstream, serve: Callable[..., str]) -> None:
    tool = {"type": "function", "function": {"name": "look"}}
    ask(serve, "go", tools=[tool], tool_choice="required", parallel_tool_calls=False)
    page.open(f"{fake.url}/_fake/")
    chips = page.run("[...document.querySelectorAll('.chips .marked')].map(chip => chip.innerText)")
    assert chips == ["11 disable_parallel_tool_calls", "12 tool_choice"]
    lines = page.run(
        "[...document.querySelectorAll('.line.marked')].map(line => line.innerText.replace(/\\s+/g, ' '))"
    )
    assert lines == ["#11 disable_parallel_tool_calls true", "#12 tool_choice"]
    assert page.run("document.querySelector('.note.marked').innerText") == (
        "#11 disable_parallel_tool_calls, #12 tool_choice"
    )
    background = "getComputedStyle(document.querySelector('.line{}')).backgroundColor"
    assert page.run(background.format(".marked")) != page.run(background.format(":not(.marked)"))


def test_a_capture_without_them_has_no_marks(
    page: Page, fake: FakeUpstream, serve: Callable[..., str]
) -> None:
    ask(serve, "go")
    page.open(f"{fake.url}/_fake/")
    assert page.run("document.querySelectorAll('.marked, .unknown').length") == 0


def test_unknown_fields_are_marked(page: Page, fake: FakeUpstream) -> None:
    send(fake, HELLO + UNKNOWN_99)
    page.open(f"{fake.url}/_fake/")
    assert page.run("document.querySelector('.chips .unknown').innerText") == "99 unknown"
    assert page.run("document.querySelector('.note.unknown').innerText") == (
        "Not in the definition: #99 at the top, length-delimited"
    )


def test_what_callers_wrote_is_text_and_never_markup(
    page: Page, fake: FakeUpstream, serve: Callable[..., str]
) -> None:
    text = "<img src=x onerror=\"document.title='broken'\"> & <b>bold</b>"
    ask(serve, text)
    page.open(f"{fake.url}/_fake/")
    assert text in page.run(f"{ARTICLES}[0].innerText")
    assert page.run("document.querySelectorAll('article img, article p b').length") == 0
    assert page.run("document.title") == "Captures · fake upstream"
    assert page.complaints == []


def test_a_rejected_request_says_why(page: Page, fake: FakeUpstream) -> None:
    requests.post(fake.url + RPC, data=b"junk", headers=HEADERS, timeout=10)
    page.open(f"{fake.url}/_fake/")
    assert "Rejected: invalid_argument" in page.run(f"{ARTICLES}[0].innerText")


def test_new_captures_appear_by_themselves_and_what_was_open_stays_open(
    page: Page, fake: FakeUpstream
) -> None:
    page.open(f"{fake.url}/_fake/")
    assert "Nothing has been captured yet" in page.run("document.body.innerText")
    send(fake, HELLO)
    page.wait(f"{ARTICLES}.length === 1")
    page.run("document.querySelector('details[data-part=bytes]').open = true")
    assert "68 65 6c 6c 6f" in page.run(f"{ARTICLES}[0].innerText")
    send(fake, HELLO)
    page.wait(f"{ARTICLES}.length === 2")
    opened = f"{ARTICLES}.map(article => article.querySelector('details[data-part=bytes]').open)"
    assert page.run(opened) == [False, True]


def test_the_button_clears(page: Page, fake: FakeUpstream) -> None:
    send(fake, HELLO)
    page.open(f"{fake.url}/_fake/")
    page.run("document.getElementById('clear').click()")
    page.wait(f"{ARTICLES}.length === 0")
    assert fake.captures() == []


def test_long_texts_are_folded(page: Page, fake: FakeUpstream, serve: Callable[..., str]) -> None:
    ask(serve, "x" * 5000)
    page.open(f"{fake.url}/_fake/")
    assert page.run("document.querySelector('.value details summary').innerText") == "5000 characters"
    assert page.run("document.querySelector('.value details pre').checkVisibility()") is False
