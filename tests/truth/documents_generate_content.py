"""Requests of generateContent in which every row of its ledger has a place, servable or refused for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.ledger import Parameter
from app.seals import Seals
from tests.truth.case import KEEP, Case, first_that_fits
from tests.truth.stage import SEAL_KEY

PNG = {"mimeType": "image/png", "data": "iVBORw0KGgo="}
SCHEMA = {"type": "OBJECT", "properties": {"x": {"type": "STRING"}}}
F = {"name": "f", "description": "d", "parameters": SCHEMA}
G = {"name": "g", "description": "d", "parameters": SCHEMA}
H = {"name": "h"}
DECLARED = [{"functionDeclarations": [F, G, H]}]
CALL = {"functionCall": {"name": "f", "args": {"x": "1"}, "id": "call-1"}}
SEALED = {"text": "marked", "thought": True, "thoughtSignature": Seals(SEAL_KEY.encode()).sign("marked")}
"""A thought under the stage's own seal."""


_HISTORY = {
    "executableCode": {"language": "PYTHON", "code": "marked", "id": "x"},
    "codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "marked", "id": "x"},
    "toolCall": {"toolType": "URL_CONTEXT", "args": {"q": "marked"}, "id": "x"},
    "toolResponse": {"toolType": "URL_CONTEXT", "response": {"q": "marked"}, "id": "x"},
}


def _said(*parts: Any, **fields: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": list(parts) or [{"text": "hi"}]}], **fields}


def _model_said(*parts: Any, **fields: Any) -> dict[str, Any]:
    go, on = ({"role": "user", "parts": [{"text": text}]} for text in ("go", "on"))
    return {"contents": [go, {"role": "model", "parts": list(parts)}, on], **fields}


def _answered(response: dict[str, Any], role: str = "user") -> dict[str, Any]:
    """A call and its answer."""
    talk = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [CALL]},
        {"role": role, "parts": [{"functionResponse": response}]},
    ]
    return {"contents": talk}


def documents() -> list[dict[str, Any]]:
    """All of them; a row stands in the first that has a place for it."""
    response = {"name": "f", "id": "call-1", "response": {"output": "1"}}
    return [
        _said(),
        _model_said({"text": "there"}),
        _said({"inlineData": PNG}),
        _answered(response),
        _answered({**response, "parts": [{"inlineData": PNG}]}),
        _answered(response, "function"),
        _model_said(SEALED, {"text": "there"}),
        _said(systemInstruction={"role": "user", "parts": [{"text": "S"}]}),
        _said(tools=DECLARED, systemInstruction="S"),
        *(_with_mode(mode) for mode in ("MODE_UNSPECIFIED", "AUTO", "NONE", "ANY", "VALIDATED")),
        _said(generationConfig={"thinkingConfig": {"includeThoughts": True}}),
        _said(generationConfig={"responseFormat": [{"text": {"mimeType": "APPLICATION_JSON"}}]}),
        _said(model="models/fake-echo"),
        _said(
            safetySettings=[
                {"category": "HARM_CATEGORY_HARASSMENT", "method": "SEVERITY", "threshold": "OFF"}
            ]
        ),
        _said(modelArmorConfig={"promptTemplateName": "a", "responseTemplateName": "b"}),
        _said(outputConfig={"outputUriPrefix": "gs://a"}),
    ]


def _with_mode(mode: str) -> dict[str, Any]:
    config = {"functionCallingConfig": {"mode": mode}}
    return _said(tools=DECLARED, systemInstruction="S", toolConfig=config)


_QUERIES = {
    "alt": "sse",
    "key": "",
    "fields": "candidates",
    "prettyPrint": "true",
    "quotaUser": "u",
    "*": "a",
}


def case(row: Parameter, sample: Any) -> Case:
    """``sample`` at the row's place."""
    if row.path.startswith("query:"):
        name = row.path.removeprefix("query:")
        value = _QUERIES[name] if sample is KEEP else sample
        name = "anything" if name == "*" else name
        return Case(_said(), f"query:{name}", value, query={name: value})
    made = first_that_fits(_documents_for(row), row, sample)
    return replace(made, body=_servable(row, made))


def _documents_for(row: Parameter) -> list[dict[str, Any]]:
    every = documents()
    path = row.path
    if path.startswith("contents[].parts[].functionCall"):
        return [_answered({"name": "f", "id": "call-1", "response": {}})]
    if path == "contents[].parts[].functionResponse" or path.startswith(
        "contents[].parts[].functionResponse."
    ):
        return [every[4] if ".parts" in path else every[3]]
    kind = path.removeprefix("contents[].parts[].").partition(".")[0]
    if kind in _HISTORY:
        return [_model_said({kind: _HISTORY[kind]})]
    if path in ("contents[].parts[].thought", "contents[].parts[].thoughtSignature"):
        return [document for document in every if "thoughtSignature" in str(document)]
    if path.startswith("toolConfig.functionCallingConfig.allowed"):
        return [_with_mode("ANY")]
    if path.startswith("toolConfig.functionCallingConfig") or path == "toolConfig":
        return [document for document in every if "toolConfig" in document]
    if path.startswith("toolConfig."):
        return [_with_mode("AUTO")]
    if path.startswith("tools"):
        return [_said(tools=[{"functionDeclarations": [F]}], systemInstruction="S")]
    if path == "contents[].parts[].fileData":
        return [_said({})]
    if path.startswith("contents[].parts[].inlineData"):
        return [_said({"inlineData": PNG})]
    if path.endswith("functionResponse.parts[].fileData"):
        return [_answered({"name": "f", "id": "call-1", "parts": [{}]})]
    if path.startswith("generationConfig."):
        rest = [document for document in every if "generationConfig" in document]
        return [_said(generationConfig={}), *rest]
    return [*every, _said(generationConfig={})]


def _servable(row: Parameter, made: Case) -> dict[str, Any]:
    """The request with what the sample needs beside it: a call's answer, a schema's type."""
    body = made.body
    path = row.path
    if path.startswith("contents[].parts[].functionCall"):
        call = body["contents"][1]["parts"][0]["functionCall"]
        answer = body["contents"][2]["parts"][0]["functionResponse"]
        answer["name"] = call["name"]
        _same_id(call, answer)
    elif path.startswith("contents[].parts[].functionResponse"):
        call = body["contents"][1]["parts"][0]["functionCall"]
        answer = body["contents"][2]["parts"][0]["functionResponse"]
        call["name"] = answer["name"]
        _same_id(answer, call)
        if path.endswith(".functionResponse.name"):
            call.pop("id"), answer.pop("id")
    elif path.startswith("tools[].functionDeclarations[].parametersJsonSchema"):
        body["tools"][0]["functionDeclarations"][0].pop("parameters")
    elif path.removeprefix("generationConfig.") in (
        "responseSchema",
        "responseJsonSchema",
        "_responseJsonSchema",
    ):
        body["generationConfig"]["responseMimeType"] = "application/json"
    elif path.endswith("responseFormat[].text.schema"):
        body["generationConfig"]["responseFormat"][0]["text"]["mimeType"] = "APPLICATION_JSON"
    elif path.startswith("contents[].role"):
        body["contents"] = _conversation(body["contents"], row)
    return body


def _same_id(given: dict[str, Any], taken: dict[str, Any]) -> None:
    if "id" in given:
        taken["id"] = given["id"]
    else:
        taken.pop("id", None)


def _conversation(contents: list[dict[str, Any]], row: Parameter) -> list[dict[str, Any]]:
    if row.path.endswith("=function"):
        answer = contents[2]["parts"][0]["functionResponse"]
        _same_id(answer, contents[1]["parts"][0]["functionCall"])
    return contents
