"""Reading a refusal: the paths that a 400 names, once its words are those of its surface."""

from __future__ import annotations

import re

from tests.truth.stage import Answer


def refused_paths(surface: str, answer: Answer) -> list[str]:
    """The paths with brackets that the 400 names; AssertionError where it is not in the surface's vocabulary."""
    body = answer.body
    match surface:
        case "chat_completions" | "responses":
            error = body["error"]
            assert error.keys() >= {"message", "type", "param", "code"}
            assert error["type"] == "invalid_request_error"
            assert error["param"] is not None
            return [error["param"], *re.findall(r"'([^' ]+)'", error["message"])]
        case "messages":
            assert body["type"] == "error"
            assert body["request_id"]
            assert body["error"]["type"] == "invalid_request_error"
            paths = re.findall(r"(?:^|; |, )([A-Za-z_][^:;, ]*): ", f"{body['error']['message']} ")
            return [re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", path) for path in paths]
        case "generate_content":
            error = body["error"]
            assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
            (details,) = [
                each for each in error["details"] if each["@type"].endswith("google.rpc.BadRequest")
            ]
            return [violation["field"] for violation in details["fieldViolations"]]
    raise ValueError(surface)
