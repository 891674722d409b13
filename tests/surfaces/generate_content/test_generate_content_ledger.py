"""generate_content: what becomes of every parameter, by upstream."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from app.ledger import Disposition, Findings
from app.ledger.ledger import UNKNOWN_REASON
from app.seals import Seals
from app.surfaces.generate_content import signatures
from app.surfaces.generate_content.surface import GenerateContent
from app.turn.faults import FaultKind, TurnFault
from app.turn.features import Feature

Find = Callable[..., Findings]

DATA = Path(__file__).resolve().parents[2] / "data"
CLIENTS = DATA / "clients"
ALL = frozenset(Feature)
CONNECT = frozenset(
    {
        Feature.SYSTEM_PROMPT,
        Feature.TOOLS,
        Feature.STRICT_TOOLS,
        Feature.IMAGES,
        Feature.MAX_OUTPUT_TOKENS,
        Feature.TEMPERATURE,
        Feature.TOP_P,
        Feature.TOP_K,
    }
)
PNG = "iVBORw0KGgo="
F = {"name": "f", "parameters": {"type": "OBJECT"}}
G = {"name": "g"}


def said(**more: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": [{"text": "hi"}]}], **more}


def configured(**config: Any) -> dict[str, Any]:
    return said(generationConfig=config)


def parts(*items: Any, role: str = "user") -> dict[str, Any]:
    return {"contents": [{"role": role, "parts": list(items)}]}


def choose(**config: Any) -> dict[str, Any]:
    return said(
        systemInstruction="S",
        tools=[{"functionDeclarations": [F, G]}],
        toolConfig={"functionCallingConfig": config},
    )


def headers(findings: Findings) -> dict[str, str]:
    return {name.removeprefix("x-candor-"): value for name, value in findings.headers()}


# Served everywhere, silently.


@pytest.mark.parametrize(
    "config",
    [
        {"candidateCount": 1},
        {"candidateCount": 1.0},
        {"candidateCount": None},
        {"responseModalities": ["TEXT"]},
        {"responseModalities": []},
        {"responseMimeType": "text/plain"},
        {"stopSequences": []},
        {"presencePenalty": 0, "frequency_penalty": 0.0},
        {"responseLogprobs": False, "logprobs": 0},
        {"thinkingConfig": {}},
        {"thinkingConfig": {"includeThoughts": False}},
        {"mediaResolution": "MEDIA_RESOLUTION_UNSPECIFIED"},
        {"audioTimestamp": False, "speechConfig": {}},
        {"stopSequences": ["END"]},
    ],
)
@pytest.mark.parametrize("features", [frozenset(), CONNECT, ALL])
def test_generate_content_serves_what_asks_for_nothing_or_is_exact(
    find: Find, config: Any, features: frozenset[Feature]
) -> None:
    assert headers(find(configured(**config), features, strict=True)) == {}


@pytest.mark.parametrize(
    "more",
    [
        {"safetySettings": []},
        {"serviceTier": "standard"},
        {"store": False},
        {"labels": {}},
        {"cachedContent": ""},
        {"tools": []},
        {"toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}},
        {"toolConfig": {"includeServerSideToolInvocations": False}},
        {"modelArmorConfig": None},
        {"model": "models/m"},
    ],
)
def test_generate_content_serves_neutral_fields_at_the_top(find: Find, more: dict[str, Any]) -> None:
    assert headers(find(said(**more), strict=True)) == {}


# Ignored.


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (configured(seed=0), "generationConfig.seed"),
        (configured(presencePenalty=0.5), "generationConfig.presencePenalty"),
        (said(generation_config={"frequency_penalty": 0.5}), "generation_config.frequency_penalty"),
        (configured(thinkingConfig={"thinkingBudget": 0}), "generationConfig.thinkingConfig.thinkingBudget"),
        (
            configured(thinkingConfig={"thinking_level": "HIGH"}),
            "generationConfig.thinkingConfig.thinking_level",
        ),
        (configured(speechConfig={"languageCode": "en"}), "generationConfig.speechConfig"),
        (configured(imageConfig={"aspectRatio": "1:1"}), "generationConfig.imageConfig"),
        (configured(mediaResolution="MEDIA_RESOLUTION_LOW"), "generationConfig.mediaResolution"),
        (configured(audioTimestamp=True), "generationConfig.audioTimestamp"),
        (configured(audioTranscriptionConfig={"a": 1}), "generationConfig.audioTranscriptionConfig"),
        (configured(enableAffectiveDialog=True), "generationConfig.enableAffectiveDialog"),
        (configured(enableEnhancedCivicAnswers=True), "generationConfig.enableEnhancedCivicAnswers"),
        (configured(routingConfig={"a": 1}), "generationConfig.routingConfig"),
        (configured(modelConfig={"a": 1}), "generationConfig.modelConfig"),
        (configured(modelSelectionConfig={"a": 1}), "generationConfig.modelSelectionConfig"),
        (
            said(safetySettings=[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]),
            "safetySettings",
        ),
        (said(labels={"a": "b"}), "labels"),
        (said(serviceTier="flex"), "serviceTier"),
        (said(store=True), "store"),
        (said(session_id="s"), "session_id"),
        (said(toolConfig={"retrievalConfig": {"languageCode": "en"}}), "toolConfig.retrievalConfig"),
        (
            said(toolConfig={"includeServerSideToolInvocations": True}),
            "toolConfig.includeServerSideToolInvocations",
        ),
        (
            said(toolConfig={"functionCallingConfig": {"streamFunctionCallArguments": True}}),
            "toolConfig.functionCallingConfig.streamFunctionCallArguments",
        ),
        (
            said(
                systemInstruction="S",
                tools=[{"functionDeclarations": [{"name": "f", "behavior": "NON_BLOCKING"}]}],
            ),
            "tools[0].functionDeclarations[0].behavior",
        ),
        (
            said(
                systemInstruction="S",
                tools=[{"functionDeclarations": [{"name": "f", "response": {"type": "STRING"}}]}],
            ),
            "tools[0].functionDeclarations[0].response",
        ),
        (
            said(
                systemInstruction="S",
                tools=[{"functionDeclarations": [{"name": "f", "response_json_schema": {}}]}],
            ),
            "tools[0].functionDeclarations[0].response_json_schema",
        ),
        (parts({"text": "a", "videoMetadata": {"fps": 1}}), "contents[0].parts[0].videoMetadata"),
        (parts({"text": "a", "media_resolution": {"level": "X"}}), "contents[0].parts[0].media_resolution"),
        (parts({"text": "a", "mediaProcessing": "STATIC"}), "contents[0].parts[0].mediaProcessing"),
        (parts({"text": "a", "partMetadata": {"a": 1}}), "contents[0].parts[0].partMetadata"),
        (
            parts({"text": "a", "audioTranscription": {"text": "x"}}),
            "contents[0].parts[0].audioTranscription",
        ),
        (parts({"text": "a", "speechMetadata": {"speaker": "x"}}), "contents[0].parts[0].speechMetadata"),
        (parts({"text": "a", "audioMetadata": {"startOffset": "1s"}}), "contents[0].parts[0].audioMetadata"),
        (parts({"text": "a", "documentMetadata": {"startPage": 1}}), "contents[0].parts[0].documentMetadata"),
        (
            parts({"text": "a", "spreadsheetMetadata": {"sheetIndex": 1}}),
            "contents[0].parts[0].spreadsheetMetadata",
        ),
        (
            parts({"inlineData": {"mimeType": "image/png", "data": PNG, "displayName": "x"}}),
            "contents[0].parts[0].inlineData.displayName",
        ),
        (
            parts({"functionCall": {"name": "f", "willContinue": True}}, role="model"),
            "contents[0].parts[0].functionCall.willContinue",
        ),
        (
            parts({"functionCall": {"name": "f", "partialArgs": [{}]}}, role="model"),
            "contents[0].parts[0].functionCall.partialArgs",
        ),
    ],
)
def test_generate_content_ignores_and_says_so_and_refuses_when_strict(
    find: Find, body: dict[str, Any], path: str
) -> None:
    assert headers(find(body, CONNECT)) == {"ignored": path}
    with pytest.raises(TurnFault) as caught:
        find(body, CONNECT, strict=True)
    assert caught.value.kind is FaultKind.UNSUPPORTED_PARAMETER
    assert caught.value.param == path


@pytest.mark.parametrize(
    ("field", "path"),
    [("scheduling", "scheduling"), ("willContinue", "willContinue"), ("will_continue", "will_continue")],
)
def test_generate_content_ignores_how_results_are_scheduled(find: Find, field: str, path: str) -> None:
    value: Any = "SILENT" if field == "scheduling" else True
    body = {
        "contents": [
            {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}, field: value}}]},
        ]
    }
    assert headers(find(body, CONNECT)) == {"ignored": f"contents[1].parts[0].functionResponse.{path}"}


@pytest.mark.parametrize(
    ("config", "row"),
    [
        ({"topK": 3}, "topK"),
        ({"topP": 0}, "topP"),
        ({"maxOutputTokens": 5}, "maxOutputTokens"),
        ({"temperature": 0.0}, "temperature"),
    ],
)
def test_generate_content_forwards_sampling_where_it_can_and_ignores_it_elsewhere(
    find: Find, config: dict[str, Any], row: str
) -> None:
    assert headers(find(configured(**config), ALL, strict=True)) == {}
    assert headers(find(configured(**config))) == {"ignored": f"generationConfig.{row}"}


def test_generate_content_says_that_temperature_zero_is_not_quite_zero(find: Find) -> None:
    assert headers(find(configured(temperature=0), CONNECT)) == {"emulated": "generationConfig.temperature"}
    assert headers(find(configured(temperature=0.5), CONNECT)) == {}


@pytest.mark.parametrize(
    ("body", "path"),
    [
        (said(colour=1), "colour"),
        (configured(colour=1), "generationConfig.colour"),
        ({"contents": [{"parts": [{"text": "a"}], "colour": 1}]}, "contents[0].colour"),
        (parts({"text": "a", "colour": 1}), "contents[0].parts[0].colour"),
        (
            parts({"inlineData": {"mimeType": "image/png", "data": PNG, "colour": 1}}),
            "contents[0].parts[0].inlineData.colour",
        ),
        (
            said(systemInstruction={"parts": [{"text": "S", "colour": 1}]}),
            "systemInstruction.parts[0].colour",
        ),
        (
            said(systemInstruction="S", tools=[{"functionDeclarations": [{"name": "f", "colour": 1}]}]),
            "tools[0].functionDeclarations[0].colour",
        ),
        (said(toolConfig={"colour": 1}), "toolConfig.colour"),
        (
            said(toolConfig={"functionCallingConfig": {"colour": 1}}),
            "toolConfig.functionCallingConfig.colour",
        ),
        (configured(thinkingConfig={"colour": 1}), "generationConfig.thinkingConfig.colour"),
        (
            parts({"functionCall": {"name": "f", "colour": 1}}, role="model"),
            "contents[0].parts[0].functionCall.colour",
        ),
    ],
)
def test_generate_content_ignores_an_unknown_plain_field_at_any_depth(
    find: Find, body: dict[str, Any], path: str
) -> None:
    findings = find(body, ALL)
    assert headers(findings) == {"ignored": path}
    assert findings.ignored[0].row.reason == UNKNOWN_REASON


def test_generate_content_does_not_look_into_schemas_arguments_and_results(find: Find) -> None:
    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "a"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"colour": 1}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"colour": 1}}}]},
        ],
        "systemInstruction": "S",
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT", "colour": 1}}]}],
    }
    assert headers(find(body, ALL, strict=True)) == {}


def test_generate_content_names_what_a_query_asks_for_in_vain(find: Find) -> None:
    assert headers(find(said(), ALL, alt="sse", key="k", fields="a", **{"$x": "1"})) == {
        "ignored": "query:fields, query:%24x"
    }


# Refused.


@pytest.mark.parametrize(
    ("body", "param"),
    [
        *(
            (configured(candidateCount=value), "generationConfig.candidateCount")
            for value in (2, 0, -1, "1", True, 1.5)
        ),
        (said(generation_config={"candidate_count": 2}), "generation_config.candidate_count"),
        (configured(responseLogprobs=True), "generationConfig.responseLogprobs"),
        (configured(logprobs=3), "generationConfig.logprobs"),
        (configured(responseModalities=["IMAGE"]), "generationConfig.responseModalities"),
        (configured(responseModalities=["TEXT", "AUDIO"]), "generationConfig.responseModalities"),
        (configured(responseModalities=[{}]), "generationConfig.responseModalities"),
        (configured(responseMimeType="image/png"), "generationConfig.responseMimeType"),
        (configured(responseFormat=[{"audio": {}}]), "generationConfig.responseFormat[0].audio"),
        (configured(responseFormat=[{"image": {}}]), "generationConfig.responseFormat[0].image"),
        (configured(responseFormat=[{"video": {}}]), "generationConfig.responseFormat[0].video"),
        (configured(translationConfig={"targetLanguageCode": "de"}), "generationConfig.translationConfig"),
        (said(cachedContent="cachedContents/a"), "cachedContent"),
        (said(continuationToken="t"), "continuationToken"),
        (said(modelArmorConfig={"promptTemplateName": "a"}), "modelArmorConfig"),
        (said(outputConfig={"outputUriPrefix": "gs://a"}), "outputConfig"),
        (parts({"fileData": {"fileUri": "gs://a"}}), "contents[0].parts[0].fileData"),
        (parts({"file_data": {"file_uri": "gs://a"}}), "contents[0].parts[0].file_data"),
        (
            parts({"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}),
            "contents[0].parts[0].inlineData.mimeType",
        ),
        (
            parts({"inline_data": {"mime_type": "application/pdf", "data": "AAAA"}}),
            "contents[0].parts[0].inline_data.mime_type",
        ),
        *(
            (said(tools=[{name: {}}]), f"tools[0].{name}")
            for name in (
                "googleSearch",
                "google_search",
                "googleSearchRetrieval",
                "googleMaps",
                "urlContext",
                "codeExecution",
                "code_execution",
                "fileSearch",
                "computerUse",
                "retrieval",
                "enterpriseWebSearch",
                "parallelAiSearch",
                "exaAiSearch",
            )
        ),
        (said(tools=[{"mcpServers": [{"name": "a"}]}]), "tools[0].mcpServers"),
        (
            said(
                tools=[{"functionDeclarations": [F]}, {"googleSearch": {}}],
                toolConfig={"functionCallingConfig": {"mode": "ANY"}},
            ),
            "tools[1].googleSearch",
        ),
    ],
)
def test_generate_content_refuses_by_name_on_every_upstream(
    find: Find, body: dict[str, Any], param: str
) -> None:
    with pytest.raises(TurnFault) as caught:
        find(body, ALL)
    assert caught.value.kind is FaultKind.UNSUPPORTED_PARAMETER
    assert caught.value.param == param


@pytest.mark.parametrize(
    ("body", "param"),
    [
        (parts({"inlineData": {"mimeType": "image/png", "data": PNG}}), "contents[0].parts[0].inlineData"),
        (said(tools=[{"functionDeclarations": [F]}]), "tools"),
        (parts({"functionCall": {"name": "f"}}, role="model"), "contents[0].parts[0].functionCall"),
        (said(system_instruction="S"), "system_instruction"),
    ],
)
def test_generate_content_refuses_content_that_an_upstream_cannot_carry(
    find: Find, body: dict[str, Any], param: str
) -> None:
    with pytest.raises(TurnFault) as caught:
        find(body)
    assert caught.value.param == param


def test_generate_content_serves_withheld_tools_on_an_upstream_without_tools(find: Find) -> None:
    body = said(tools=[{"functionDeclarations": [F]}], toolConfig={"functionCallingConfig": {"mode": "NONE"}})
    assert headers(find(body, strict=True)) == {}


# Tools and choices.


@pytest.mark.parametrize(
    ("config", "off", "on"),
    [
        ({"mode": "AUTO"}, {}, {}),
        ({"mode": "NONE"}, {}, {}),
        ({"mode": "VALIDATED"}, {}, {}),
        ({"mode": "ANY"}, {"ignored": "MODE"}, {}),
        ({"mode": "ANY", "allowedFunctionNames": []}, {}, {}),
        ({"mode": "ANY", "allowedFunctionNames": ["f"]}, {"ignored": "MODE", "emulated": "NAMES"}, {}),
        (
            {"mode": "ANY", "allowedFunctionNames": ["f", "g"]},
            {"ignored": "MODE", "emulated": "NAMES"},
            {"emulated": "NAMES"},
        ),
        ({"mode": "VALIDATED", "allowedFunctionNames": ["f"]}, {"emulated": "NAMES"}, {"emulated": "NAMES"}),
    ],
)
def test_generate_content_says_what_becomes_of_a_choice(
    find: Find, config: dict[str, Any], off: dict[str, str], on: dict[str, str]
) -> None:
    paths = {
        "MODE": "toolConfig.functionCallingConfig.mode",
        "NAMES": "toolConfig.functionCallingConfig.allowedFunctionNames",
    }
    body = choose(**config)
    assert headers(find(body, CONNECT)) == {name: paths[value] for name, value in off.items()}
    assert headers(find(body, CONNECT | {Feature.TOOL_CHOICE})) == {
        name: paths[value] for name, value in on.items()
    }


def test_generate_content_refuses_a_force_when_strict_and_names_mode(find: Find) -> None:
    with pytest.raises(TurnFault) as caught:
        find(choose(mode="ANY"), CONNECT, strict=True)
    assert caught.value.param == "toolConfig.functionCallingConfig.mode"


def test_generate_content_says_when_validated_cannot_be_kept(find: Find) -> None:
    findings = find(choose(mode="VALIDATED"), CONNECT - {Feature.STRICT_TOOLS})
    assert headers(findings) == {"ignored": "toolConfig.functionCallingConfig.mode"}


def test_generate_content_says_that_tools_got_a_line_of_system_text(find: Find) -> None:
    body = said(tools=[{"functionDeclarations": [F]}])
    assert headers(find(body, CONNECT)) == {"emulated": "tools"}
    assert headers(find(body, CONNECT | {Feature.TOOLS_WITHOUT_SYSTEM})) == {}
    assert headers(find(said(systemInstruction="S", **{"tools": body["tools"]}), CONNECT)) == {}


# Output formats.

MIME = "generationConfig.responseMimeType"


@pytest.mark.parametrize(
    ("config", "emulated", "ignored"),
    [
        ({"responseMimeType": "application/json"}, MIME, MIME),
        (
            {"responseMimeType": "application/json", "responseSchema": {"type": "OBJECT"}},
            f"{MIME}, generationConfig.responseSchema",
            "generationConfig.responseSchema",
        ),
        (
            {"responseMimeType": "text/x.enum", "response_json_schema": {"enum": ["a"]}},
            f"{MIME}, generationConfig.response_json_schema",
            "generationConfig.response_json_schema",
        ),
        (
            {"_responseJsonSchema": {"type": "object"}},
            "generationConfig._responseJsonSchema",
            "generationConfig._responseJsonSchema",
        ),
        (
            {"responseFormat": [{"text": {"mimeType": "APPLICATION_JSON", "schema": {"type": "object"}}}]},
            "generationConfig.responseFormat[0].text.mimeType, generationConfig.responseFormat[0].text.schema",
            "generationConfig.responseFormat[0].text.schema",
        ),
    ],
)
def test_generate_content_describes_a_format_and_says_what_is_not_guaranteed(
    find: Find, config: dict[str, Any], emulated: str, ignored: str
) -> None:
    assert headers(find(configured(**config), CONNECT)) == {"ignored": ignored, "emulated": emulated}
    assert headers(find(configured(**config), CONNECT | {Feature.STRUCTURED_OUTPUT})) == {}


# Thoughts.


def test_generate_content_says_where_thoughts_are_not_carried(find: Find, seals: Seals) -> None:
    seal = signatures.to_field(seals.sign("hm"))
    body = parts({"text": "hm", "thought": True, "thoughtSignature": seal}, {"text": "a"}, role="model")
    assert headers(find(body, CONNECT)) == {"ignored": "contents[0].parts[0].thought"}
    assert headers(find(body, ALL, strict=True)) == {}


def test_generate_content_says_where_the_thought_in_a_call_is_not_carried(find: Find, seals: Seals) -> None:
    blob = signatures.to_field(seals.wrap("hm"))
    body = parts({"functionCall": {"name": "f"}, "thoughtSignature": blob}, role="model")
    assert headers(find(body, CONNECT)) == {"ignored": "contents[0].parts[0].thoughtSignature"}
    assert headers(find(body, ALL, strict=True)) == {}


@pytest.mark.parametrize("features", [CONNECT, ALL])
def test_generate_content_says_that_a_foreign_signature_is_ignored(
    find: Find, features: frozenset[Feature]
) -> None:
    body = parts({"functionCall": {"name": "f"}, "thoughtSignature": "U0lHLUNBUA=="}, role="model")
    assert headers(find(body, features)) == {"ignored": "contents[0].parts[0].thoughtSignature"}


def test_generate_content_counts_an_unsealed_thought_once(find: Find) -> None:
    body = parts({"text": "hm", "thought": True}, {"text": "a"}, role="model")
    for features in (CONNECT, ALL):
        findings = find(body, features)
        assert [finding.path for finding in findings.ignored] == ["contents[0].parts[0].thought"]


def test_generate_content_says_that_hosted_history_became_text(find: Find) -> None:
    body = parts(
        {"executableCode": {"language": "PYTHON", "code": "1"}}, {"toolResponse": {"id": "a"}}, role="model"
    )
    assert headers(find(body, ALL, strict=True)) == {
        "emulated": "contents[0].parts[0].executableCode, contents[0].parts[1].toolResponse"
    }


def test_generate_content_says_that_text_data_was_inlined(find: Find) -> None:
    body = parts({"inlineData": {"mimeType": "text/plain", "data": "aGk="}})
    assert headers(find(body, ALL, strict=True)) == {"emulated": "contents[0].parts[0].inlineData"}


# countTokens.


def test_generate_content_judges_the_request_inside_a_request_to_count(find: Find) -> None:
    body = {"generateContentRequest": configured(seed=1)}
    assert headers(find(body, CONNECT, counting=True)) == {
        "ignored": "generateContentRequest.generationConfig.seed"
    }


# Real clients.


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "gemini-text",
            {"ignored": "generationConfig.thinkingConfig.thinkingLevel"},
        ),
        (
            "gemini-tool-turn2",
            {
                "ignored": "contents[1].parts[1].thoughtSignature, generationConfig.thinkingConfig.thinkingLevel"
            },
        ),
        (
            "gemini-toolerror-turn2",
            {
                "ignored": "contents[1].parts[1].thoughtSignature, generationConfig.thinkingConfig.thinkingBudget"
            },
        ),
    ],
)
def test_generate_content_says_what_becomes_of_gemini_cli(
    find: Find, name: str, expected: dict[str, str]
) -> None:
    body = json.loads((CLIENTS / f"{name}.json").read_text())["body"]
    assert headers(find(body, CONNECT)) == expected


def test_generate_content_refuses_gemini_clis_own_search_request(find: Find) -> None:
    body = json.loads((CLIENTS / "gemini-googlesearch-subrequest.json").read_text())["body"]
    with pytest.raises(TurnFault) as caught:
        find(body, CONNECT)
    assert caught.value.param == "tools[0].googleSearch"


# The table itself.


def test_generate_content_has_a_reason_for_every_row(surface: GenerateContent) -> None:
    for row in surface.ledger.rows.values():
        assert row.reason, row.path
        assert "\n" not in row.reason, row.path


def test_generate_content_names_the_wire_of_what_it_forwards(surface: GenerateContent) -> None:
    for row in surface.ledger.rows.values():
        if row.disposition is Disposition.FORWARDED and row.samples and "by field" not in row.reason:
            assert row.wire or "by kind" in row.reason, row.path


def _fields(model: Any) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


@pytest.mark.parametrize(
    ("model", "at"),
    [
        (types.Content, "contents[]."),
        (types.Part, "contents[].parts[]."),
        (types.Blob, "contents[].parts[].inlineData."),
        (types.FunctionCall, "contents[].parts[].functionCall."),
        (types.FunctionResponse, "contents[].parts[].functionResponse."),
        (types.FunctionResponsePart, "contents[].parts[].functionResponse.parts[]."),
        (types.ExecutableCode, "contents[].parts[].executableCode."),
        (types.CodeExecutionResult, "contents[].parts[].codeExecutionResult."),
        (types.ToolCall, "contents[].parts[].toolCall."),
        (types.ToolResponse, "contents[].parts[].toolResponse."),
        (types.Tool, "tools[]."),
        (types.FunctionDeclaration, "tools[].functionDeclarations[]."),
        (types.ToolConfig, "toolConfig."),
        (types.FunctionCallingConfig, "toolConfig.functionCallingConfig."),
        (types.GenerationConfig, "generationConfig."),
        (types.ThinkingConfig, "generationConfig.thinkingConfig."),
        (types.ResponseFormat, "generationConfig.responseFormat[]."),
        (types.TextResponseFormat, "generationConfig.responseFormat[].text."),
        (types.SafetySetting, "safetySettings[]."),
    ],
)
def test_generate_content_has_a_row_for_every_field_of_the_sdk(
    surface: GenerateContent, model: Any, at: str
) -> None:
    tags = {"contents[].role", "toolConfig.functionCallingConfig.mode"}
    lacking = [
        at + name for name in _fields(model) if at + name not in surface.ledger.rows and at + name not in tags
    ]
    assert lacking == []


def test_generate_content_has_a_row_for_every_calling_mode_of_the_sdk(surface: GenerateContent) -> None:
    for mode in types.FunctionCallingConfigMode:
        assert f"toolConfig.functionCallingConfig.mode={mode.value}" in surface.ledger.rows
