"""The order of a turn: what can never succeed is refused as such, whatever state the gates are in."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_app, pipeline
from app.factory import of
from app.settings import load
from fake_upstream import FakeUpstream
from tests.support.dialects import DIALECTS, GENERATE_CONTENT, Dialect
from tests.wire.test_capacity_parity import shut

STATES = ("open", "cooling", "dead", "none", "drought", "draining")
KEY = {"Authorization": "Bearer caller-key"}


@dataclass(frozen=True)
class Permanent:
    """A request that can never succeed: what to send and the status that says so."""

    name: str
    status: int
    send: Callable[[FlaskClient, Dialect, bool], Any]


def post(
    client: FlaskClient, dialect: Dialect, stream: bool, *, model: str = "fake-tools", **more: Any
) -> Any:
    extra = more.pop("extra", {})
    options: dict[str, Any] = {"json": {**dialect.body(model, "hi", stream), **extra}, "headers": KEY, **more}
    if "data" in more:
        del options["json"]
    return client.post(dialect.path(model, stream), **options)


PERMANENT = (
    Permanent(
        "bad JSON", 400, lambda c, d, stream: post(c, d, stream, data=b"{", content_type="application/json")
    ),
    Permanent("not an object", 400, lambda c, d, stream: post(c, d, stream, data=b"[]")),
    Permanent("bad shape", 400, lambda c, d, stream: post(c, d, stream, extra=d.misshapen)),
    Permanent(
        "bad encoding",
        415,
        lambda c, d, stream: post(c, d, stream, headers={**KEY, "Content-Encoding": "br"}),
    ),
    Permanent(
        "damaged gzip",
        400,
        lambda c, d, stream: post(c, d, stream, data=b"no gzip", headers={**KEY, "Content-Encoding": "gzip"}),
    ),
    Permanent("unknown model", 404, lambda c, d, stream: post(c, d, stream, model="no-such-model")),
    Permanent("refused parameter", 400, lambda c, d, stream: post(c, d, stream, extra=d.unsupported)),
    Permanent(
        "strict handling",
        400,
        lambda c, d, stream: post(
            c, d, stream, extra=d.ignorable, headers={**KEY, "Prefer": "handling=strict"}
        ),
    ),
    Permanent("too large", 413, lambda c, d, stream: post(c, d, stream, data=b" " * (1 << 20) + b" ")),
    Permanent(
        "bad key", 401, lambda c, d, stream: post(c, d, stream, headers={"Authorization": "Bearer other"})
    ),
    Permanent("no key", 401, lambda c, d, stream: post(c, d, stream, headers={})),
    Permanent("wrong method", 405, lambda c, d, stream: c.put(d.path("fake-tools", stream), headers=KEY)),
)


@pytest.fixture(scope="module")
def apps(shared_fake: FakeUpstream, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Flask]:
    """One app for each state of the gates."""
    made: dict[str, Flask] = {}

    def app_in(state: str) -> Flask:
        if state not in made:
            folder = tmp_path_factory.mktemp(state)
            tokens = (
                "token = []" if state == "none" else '[[token]]\nname = "a"\nsecret = "s"\nlimit = 1000\n'
            )
            (folder / "tokens.toml").write_text(tokens)
            app = create_app(
                load(
                    {
                        "DEVIN_CONNECT_BASE_URL": shared_fake.url,
                        "DEVIN_CONNECT_TOKENS_FILE": str(folder / "tokens.toml"),
                        "CANDOR_STATE_DIR": str(folder),
                        "CANDOR_API_KEYS": "caller-key",
                        "CANDOR_MAX_BODY_MB": "1",
                        "CANDOR_LOG_LEVEL": "ERROR",
                    }
                )
            )
            if state in ("cooling", "dead", "drought"):
                shut(app, state)
            if state == "draining":
                of(app).services.drain.begin()
            made[state] = app
        return made[state]

    return app_in


def touched(app: Flask) -> list[tuple[Any, ...]]:
    """What a turn would change of the tokens."""
    report = of(app).services.capacity.report()
    return [(row["state"], row["since"], row["in_flight"], row["served"]) for row in report["tokens"]]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("permanent", PERMANENT, ids=lambda permanent: permanent.name)
@pytest.mark.parametrize("state", STATES)
def test_what_can_never_succeed_is_refused_as_such(
    apps: Callable[[str], Flask], fake: FakeUpstream, state: str, permanent: Permanent, dialect: Dialect
) -> None:
    app = apps(state)
    before = touched(app)
    for stream in (False, True):
        reply = permanent.send(app.test_client(), dialect, stream)
        assert reply.status_code == permanent.status, reply.data
        assert "Retry-After" not in reply.headers
        assert "error" in json.loads(reply.data)
    assert fake.captures() == []
    assert touched(app) == before


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_the_states_are_what_they_are_called(
    apps: Callable[[str], Flask], fake: FakeUpstream, state: str, dialect: Dialect
) -> None:
    reply = post(apps(state).test_client(), dialect, False)
    if state == "open":
        assert reply.status_code == 200
    else:
        assert reply.status_code in (503, 529)
        assert int(reply.headers["Retry-After"]) >= 1


# The guard over the pipeline's text.

ABOVE_THE_GATE = {
    "services.callers.authenticate": "raises AUTHENTICATION: 401 is permanent",
    "read_body": "raises TOO_LARGE, WRONG_ENCODING, INVALID_REQUEST: the request itself is at fault",
    "parse_object": "raises INVALID_REQUEST: not JSON, or no object",
    "surface.ledger.walk": "notes what the body holds; raises only INVALID_REQUEST",
    "surface.decode": "raises INVALID_REQUEST and UNSUPPORTED_PARAMETER: shapes and values",
    "services.catalogue.resolve": "raises NOT_FOUND: the model is not served here",
    "model.check_output_limit": "raises INVALID_REQUEST: more output than the model has",
    "judge": "raises UNSUPPORTED_PARAMETER: the ledger refuses, or strict handling does",
}
"""Calls of steps 1 to 4 that may raise, each with its reason: permanent faults, all of them."""
HARMLESS = {
    "request.path.startswith": "a text",
    "facts.query.get": "a mapping",
    "facts.headers.get": "a mapping",
    "preferred_handling": "reads a header; what it cannot read it passes over",
    "Context": "a value",
    "plan": "a value of values already checked",
    "self.strict_rows": "a set out of settings that were checked at start-up",
    "services.accounts.served": "counts",
    "self._session_id": "a hash or a random number",
    "Admitted": "a value",
}
"""The other calls there, which raise nothing."""


def function(name: str) -> ast.FunctionDef:
    tree = ast.parse(textwrap.dedent(inspect.getsource(getattr(pipeline.Pipeline, name))))
    (found,) = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name]
    return found


def calls(node: ast.AST) -> list[str]:
    """The names of everything that is called, in the order of the text."""
    found = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    return [ast.unparse(each.func) for each in sorted(found, key=lambda each: (each.lineno, each.col_offset))]


def test_nothing_above_the_gate_raises_outside_the_registered_list() -> None:
    known = ABOVE_THE_GATE.keys() | HARMLESS.keys()
    assert sorted(set(calls(function("_admit"))) - known) == [], "register the call with its reason"
    assert sorted(known - set(calls(function("_admit")))) == [], "the list names what is gone"
    assert [node for node in ast.walk(function("_admit")) if isinstance(node, ast.Raise | ast.Assert)] == []


def test_a_turn_is_served_in_the_order_of_the_steps() -> None:
    serve = calls(function("serve"))
    order = [serve.index(name) for name in ("self._admit", "self._gate", "self._start", "self._whole")]
    assert order == sorted(order)
    admit = calls(function("_admit"))
    steps = ["services.callers.authenticate", "read_body", "parse_object", "surface.decode"]
    steps += ["services.catalogue.resolve", "judge"]
    assert [admit.index(name) for name in steps] == sorted(admit.index(name) for name in steps)


@pytest.mark.parametrize("name", ["_admit", "estimate", "strict_rows", "_session_id"])
def test_nothing_above_the_gate_knows_of_capacity_or_opens_an_upstream(name: str) -> None:
    text = ast.unparse(function(name))
    assert "capacity" not in text
    assert "lease" not in text
    assert ".open(" not in text


def test_only_the_gate_and_what_follows_it_raise_transient_faults() -> None:
    assert calls(function("_gate")) == ["self._services.drain.gate", "self._services.capacity.gate"]


def test_one_stream_keeps_its_order_in_a_dialect_of_arrays(apps: Callable[[str], Flask]) -> None:
    path = GENERATE_CONTENT.path("fake-tools", True).partition("?")[0]
    body = GENERATE_CONTENT.body("fake-tools", "hi", True)
    reply = apps("cooling").test_client().post(path, json=body, headers=KEY)
    assert reply.status_code == 503
    reply = apps("cooling").test_client().post(path, data=b"{", headers=KEY)
    assert reply.status_code == 400
