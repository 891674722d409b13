"""The page for people, as it is sent; what a browser makes of it is tested in tests/browser."""

from __future__ import annotations

import re

import pytest
import requests

from fake_upstream import page
from fake_upstream.captures import CaptureStore, Received

HELLO = bytes.fromhex("0a0b1a096465762d746f6b656e1a0910011a0568656c6c6f5801aa01016d")


@pytest.mark.parametrize("path", ["/_fake", "/_fake/", "/_fake/?x=1"])
def test_the_page_is_html_that_may_load_nothing_from_elsewhere(fake, path):
    reply = requests.get(fake.url + path, timeout=5)
    assert (reply.status_code, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert reply.headers["content-security-policy"].startswith("default-src 'none'")
    assert "Nothing has been captured yet" in reply.text


def test_another_method_is_405(fake):
    reply = requests.post(fake.url + "/_fake/", timeout=5)
    assert (reply.status_code, reply.headers["allow"]) == (405, "GET")


def test_the_newest_are_shown_and_the_others_counted():
    store = CaptureStore()
    for _ in range(page.SHOWN + 3):
        store.add(Received("/", {}, "t", HELLO, (0, len(HELLO)), error="because"), "rejected")
    html = page.render(store.newest(page.SHOWN), len(store.newest())).decode()
    shown = re.findall(r'<article id="capture_(\d+)"', html)
    assert shown == [str(number) for number in range(page.SHOWN + 3, 3, -1)]
    assert f"{page.SHOWN} of {page.SHOWN + 3}, newest first" in html


def test_a_field_that_may_be_there_once_and_is_there_twice_is_marked():
    capture = {
        "id": "capture_1", "outcome": "completed", "path": "/", "token": None, "headers": {}, "raw_hex": "",
        "message": {}, "top_level_fields": [21, 3, 3, 21], "unknown_fields": [],
    }  # fmt: skip
    assert [(chip.name, chip.kind) for chip in page.view(capture).chips] == [
        ("model", ""),
        ("messages", ""),
        ("messages", ""),
        ("model, again", "unknown"),
    ]


def test_long_bytes_are_cut_in_the_dump():
    capture = {
        "id": "capture_1", "outcome": "rejected", "path": "/", "token": None, "headers": {}, "message": None,
        "raw_hex": bytes(page.MOST_BYTES + 5).hex(), "top_level_fields": [], "unknown_fields": [], "error": "e",
    }  # fmt: skip
    lines = page.view(capture).dump.splitlines()
    assert lines[0] == "000000  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00  ................"
    assert lines[-1] == "... 5 bytes more: GET /_fake/captures"
