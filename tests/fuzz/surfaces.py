"""The routes of the app as docs/openapi.yaml has them, and what every reply of Candor must be like."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import yaml
from flask import Flask
from hypothesis import HealthCheck, settings
from werkzeug.test import TestResponse

from tests.support.servers import ROOT

OPENAPI: dict[str, Any] = yaml.safe_load((Path(ROOT) / "docs" / "openapi.yaml").read_text())
VERBS = ("get", "post", "put", "patch", "delete")
GEMINI = ("generateContent", "streamGenerateContent", "countTokens")

EXAMPLES = int(os.environ.get("CANDOR_FUZZ", "1"))
"""How many times as many examples as usual; with more than one they are other ones each time."""


def bounded(examples: int) -> settings:
    """So many examples; the same ones in every run, unless CANDOR_FUZZ asks for more."""
    return settings(
        max_examples=examples * EXAMPLES,
        derandomize=EXAMPLES == 1,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def described() -> set[tuple[str, str]]:
    """(verb, path) of everything in docs/openapi.yaml."""
    return {(verb, path) for path, item in OPENAPI["paths"].items() for verb in VERBS if verb in item}


def routed(app: Flask) -> set[tuple[str, str]]:
    """(verb, path) of every route of the app, in the spelling of OpenAPI."""
    found: set[tuple[str, str]] = set()
    for rule in app.url_map.iter_rules():
        path = rule.rule
        spelt = [path]
        if path.endswith(":<method>"):
            spelt = [path.replace("<method>", method) for method in GEMINI]
        for each in spelt:
            each = re.sub(r"<(?:\w+:)?(\w+)>", lambda match: f"{{{match[1].removeprefix('model_')}}}", each)
            found |= {(verb.lower(), each) for verb in rule.methods or () if verb.lower() in VERBS}
    return found


def surface_of(path: str) -> str:
    """Who answers at ``path``: the first tag of its operations."""
    item = OPENAPI["paths"][path]
    return str(next(item[verb]["tags"][0] for verb in VERBS if verb in item))


def check_reply(surface: str, reply: TestResponse) -> None:
    """No defect, an id, and, for a fault, the surface's own shape. A body is read to its end first."""
    body = reply.data
    assert reply.status_code != 500, body
    assert reply.headers["x-request-id"] == reply.headers["request-id"]
    assert b"Traceback" not in body
    if reply.status_code < 400:
        return
    assert reply.content_type == "application/json", body
    page = json.loads(body)
    if surface in ("catalogue", "operator"):
        assert page["error"]["message"]
    else:
        check_fault(surface, page, reply.status_code)


def check_fault(surface: str, page: dict[str, Any], status: int) -> None:
    """The shape of a fault on ``surface``."""
    match surface:
        case "messages":
            assert page.keys() == {"type", "error", "request_id"}
            assert page["type"] == "error"
            assert page["error"].keys() == {"type", "message"}
        case "generate_content":
            assert page.keys() == {"error"}
            assert page["error"].keys() - {"details"} == {"code", "message", "status"}
            assert page["error"]["code"] == status
        case _:
            assert page.keys() == {"error"}
            assert page["error"].keys() - {"drought"} == {"message", "type", "param", "code"}
