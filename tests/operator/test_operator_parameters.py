"""/parameters: what is in the ledgers is on the page, in the JSON and in the docs, and counts are for operators."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.factory import of
from app.ledger import Disposition, Parameter
from app.operator import parameters_docs
from app.operator.parameters import entry
from app.turn.features import Feature

ABROAD = {"REMOTE_ADDR": "192.0.2.7"}
HI = {"model": "local-echo", "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


class Rows(HTMLParser):
    """(surface, path, disposition) of every row of the ledger's table."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []
        self._row: dict[str, str | None] = {}
        self._path = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self._row = dict(attrs)
        self._path = tag == "code" and "data-surface" in self._row

    def handle_data(self, data: str) -> None:
        if self._path:
            surface, fate = (str(self._row[f"data-{name}"]) for name in ("surface", "disposition"))
            self.found.append((surface, data, fate))
            self._row, self._path = {}, False


def ledger_rows(app: Flask) -> list[tuple[str, str, str]]:
    """The same from the ledgers, for the upstream of the app."""
    features = of(app).services.upstreams["connect"].features
    return [
        (
            name,
            row.path,
            (row.disposition if row.feature is None or row.feature in features else row.without).value,
        )
        for name, surface in of(app).surfaces.items()
        for row in surface.ledger.rows.values()
    ]


def json_rows(data: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [
        (surface, row["path"], row["disposition"])
        for surface, rows in data["surfaces"].items()
        for row in rows
    ]


def test_parameters_page_and_json_have_the_rows_of_the_ledgers(app: Flask, client: FlaskClient) -> None:
    wanted = ledger_rows(app)
    assert Rows(client.get("/parameters").text).found == wanted
    assert json_rows(client.get("/parameters?format=json").json) == wanted


def test_parameters_docs_are_as_the_ledgers_say() -> None:
    problem = "run `python -m app.operator.parameters_docs`"
    assert parameters_docs.PAGE.read_text() == parameters_docs.page(), problem


def test_parameters_follow_the_switches(make_app: Callable[..., Flask]) -> None:
    client = make_app(DEVIN_CONNECT_TOOL_CHOICE="1").test_client()
    rows = {path: fate for _, path, fate in json_rows(client.get("/parameters?format=json").json)}
    assert rows["parallel_tool_calls"] == "forwarded"
    assert rows["tool_choice.disable_parallel_tool_use"] == "forwarded"


@pytest.mark.parametrize(
    ("accept", "query", "content_type"),
    [
        ("text/html,application/xhtml+xml,*/*;q=0.8", "", "text/html; charset=utf-8"),
        ("*/*", "", "text/html; charset=utf-8"),
        ("application/json", "", "application/json"),
        ("text/html", "?format=json", "application/json"),
        ("application/json", "?format=html", "text/html; charset=utf-8"),
    ],
)
def test_parameters_are_json_for_whoever_asks_for_it(
    client: FlaskClient, accept: str, query: str, content_type: str
) -> None:
    reply = client.get(f"/parameters{query}", headers={"accept": accept})
    assert (reply.status_code, reply.content_type) == (200, content_type)


def test_parameters_tell_operators_how_often_each_was_met(client: FlaskClient) -> None:
    for _ in range(2):
        client.post("/v1/chat/completions", json={**HI, "seed": 1, "n": 1, "colour": "red"})
    client.post("/v1/chat/completions", json={**HI, "n": 2})
    data = client.get("/parameters?format=json").json
    counts = {row["path"]: row["counts"] for row in data["surfaces"]["chat_completions"]}
    assert (counts["seed"], counts["n"], counts["user"]) == ({"ignored": 2}, {"refused": 1}, {})
    assert data["unlisted"] == [{"surface": "chat_completions", "path": "colour", "ignored": 2}]
    page = client.get("/parameters").text
    assert "2 ignored" in page
    assert "colour" in page


def test_parameters_show_no_counts_to_others(make_app: Callable[..., Flask]) -> None:
    client = make_app(CANDOR_OPERATOR_KEY="secret").test_client()
    client.post("/v1/chat/completions", json={**HI, "seed": 1, "colour": "red"})
    data = client.get("/parameters?format=json").json
    assert data["live"] is False
    assert data.keys() == {"live", "surfaces"}
    assert all("counts" not in row for rows in data["surfaces"].values() for row in rows)
    page = client.get("/parameters").text
    assert "colour" not in page
    assert "1 ignored" not in page
    key = {"authorization": "Bearer secret"}
    assert client.get("/parameters?format=json", headers=key).json["live"] is True


def test_parameters_are_open_to_callers_from_elsewhere_without_counts(client: FlaskClient) -> None:
    reply = client.get("/parameters?format=json", environ_base=ABROAD)
    assert (reply.status_code, reply.json["live"]) == (200, False)


def test_parameters_escape_what_callers_made_up(client: FlaskClient) -> None:
    client.post("/v1/chat/completions", json={**HI, "<script>alert(1)</script>": 1})
    page = client.get("/parameters").text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_parameters_page_may_load_nothing(client: FlaskClient) -> None:
    reply = client.get("/parameters")
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert reply.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("features", "shown"),
    [
        (frozenset({Feature.TOP_K}), ("forwarded", "completion.top_k", "ignored")),
        (frozenset(), ("ignored", None, "forwarded")),
    ],
)
def test_an_entry_says_what_holds_here_and_what_elsewhere(
    features: frozenset[Feature], shown: tuple[str, str | None, str]
) -> None:
    row = Parameter(
        "top_k", Disposition.FORWARDED, "why", feature=Feature.TOP_K, wire="completion.top_k", samples=(1,)
    )
    made = entry("messages", row, features)
    assert (made.disposition, made.wire, made.elsewhere) == shown
