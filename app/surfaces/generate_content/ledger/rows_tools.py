"""Rows of tools and of the choice among them."""

from __future__ import annotations

from app.ledger import Disposition, Parameter
from app.surfaces.generate_content.ledger import rules
from app.turn.features import Feature

FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
IGNORED, REFUSED = Disposition.IGNORED, Disposition.REFUSED

FUNCTION = "tools[].functionDeclarations[]"
CONFIG = "toolConfig.functionCallingConfig"

_F = {
    "name": "f",
    "description": "d",
    "parameters": {"type": "OBJECT", "properties": {"x": {"type": "STRING"}}},
}
_G = {**_F, "name": "g"}

_FUNCTIONS = [
    Parameter(
        "tools",
        FORWARDED,
        "the tools on offer; one bare object is a list of one",
        feature=Feature.TOOLS,
        without=REFUSED,
        neutral=([],),
        rule=rules.tools,
        wire="tools[]",
        samples=([{"functionDeclarations": [_F]}], [{"functionDeclarations": [_G]}]),
    ),
    Parameter(
        "tools[].functionDeclarations",
        FORWARDED,
        "functions that the caller runs",
        wire="tools[]",
        samples=([_F], [_G]),
    ),
    Parameter(f"{FUNCTION}.name", FORWARDED, "the function's name", wire="tools[].name", samples=("f", "g")),
    Parameter(
        f"{FUNCTION}.description",
        FORWARDED,
        "what it is for",
        wire="tools[].description",
        samples=("one", "two"),
    ),
    Parameter(
        f"{FUNCTION}.parameters",
        FORWARDED,
        "a schema in the OpenAPI subset, rewritten as JSON Schema",
        wire="tools[].parameters",
        samples=(
            {"type": "OBJECT", "properties": {"x": {"type": "STRING"}}},
            {"type": "OBJECT", "properties": {"y": {"type": "INTEGER"}}},
        ),
    ),
    Parameter(
        f"{FUNCTION}.parametersJsonSchema",
        FORWARDED,
        "a JSON Schema, as it is but for upper-case types",
        wire="tools[].parameters",
        samples=(
            {"type": "object", "properties": {"x": {"type": "string"}}},
            {"type": "object", "properties": {"y": {"type": "integer"}}},
        ),
    ),
    Parameter(
        f"{FUNCTION}.response",
        IGNORED,
        "the shape of results has no place upstream",
        samples=({"type": "STRING"}, {"type": "OBJECT"}),
    ),
    Parameter(
        f"{FUNCTION}.responseJsonSchema",
        IGNORED,
        "the shape of results has no place upstream",
        samples=({"type": "string"}, {"type": "object"}),
    ),
    Parameter(
        f"{FUNCTION}.behavior",
        IGNORED,
        "calls always block: the turn ends with them",
        neutral=("UNSPECIFIED", "BLOCKING"),
        samples=("NON_BLOCKING",),
    ),
]

_HOSTED = {
    "googleSearch": "search is run by the vendor, and no such service is here; nothing else could answer for it",
    "googleSearchRetrieval": "search is run by the vendor, and no such service is here",
    "googleMaps": "maps are looked up by the vendor, and no such service is here",
    "urlContext": "URLs are fetched by the vendor, and no such service is here",
    "codeExecution": "code is run by the vendor, and no such service is here",
    "fileSearch": "it names a store of files that is not here",
    "computerUse": "it needs a model that was trained on this tool",
    "mcpServers": "servers are called by the vendor, and no such service is here",
    "retrieval": "it names a store of documents that is not here",
    "enterpriseWebSearch": "search is run by the vendor, and no such service is here",
    "parallelAiSearch": "search is run by the vendor, and no such service is here",
    "exaAiSearch": "search is run by the vendor, and no such service is here",
}
_HOSTED_ROWS = [
    Parameter(
        f"tools[].{name}",
        REFUSED,
        f"{reason}; it cannot be served",
        samples=([{"name": "a"}],) if name == "mcpServers" else ({},),
        neutral=([],) if name == "mcpServers" else (),
    )
    for name, reason in _HOSTED.items()
]

_CHOICE = [
    Parameter(
        "toolConfig", FORWARDED, "by field, below", samples=({"functionCallingConfig": {"mode": "AUTO"}},)
    ),
    Parameter(CONFIG, FORWARDED, "by field, below", samples=({"mode": "AUTO"},)),
    Parameter(
        f"{CONFIG}.mode=MODE_UNSPECIFIED",
        FORWARDED,
        "the default, which is AUTO",
    ),
    Parameter(f"{CONFIG}.mode=AUTO", FORWARDED, "the model chooses, as it does unasked"),
    Parameter(
        f"{CONFIG}.mode=NONE",
        EMULATED,
        "no calls: the tools are withheld, and a call that comes all the same fails the turn",
        exact=True,
        samples=({"mode": "NONE"},),
        wire="tool_choice.option_name",
    ),
    Parameter(
        f"{CONFIG}.mode=ANY",
        FORWARDED,
        "a call must happen, which only an upstream with a tool choice can see to",
        feature=Feature.TOOL_CHOICE,
        rule=rules.mode_any,
        samples=({"mode": "ANY"},),
        wire="tool_choice.option_name",
    ),
    Parameter(
        f"{CONFIG}.mode=VALIDATED",
        FORWARDED,
        "the model chooses, and calls must conform to their schemas: strict is set on every tool",
        feature=Feature.STRICT_TOOLS,
        rule=rules.mode_validated,
        samples=({"mode": "VALIDATED"},),
        wire="tools[].strict",
    ),
    Parameter(
        f"{CONFIG}.allowedFunctionNames",
        EMULATED,
        "only these functions are offered; with a tool choice upstream, a single one is named there instead",
        rule=rules.allowed_names,
        wire="tools[].name",
        samples=(["f"], ["f", "g"]),
    ),
    Parameter(
        f"{CONFIG}.streamFunctionCallArguments",
        IGNORED,
        "calls are handed out whole",
        neutral=(False,),
        samples=(True,),
    ),
    Parameter(
        "toolConfig.retrievalConfig",
        IGNORED,
        "where the caller is, for hosted search, which is refused",
        neutral=({},),
        samples=({"languageCode": "en"}, {"languageCode": "de"}),
    ),
    Parameter(
        "toolConfig.includeServerSideToolInvocations",
        IGNORED,
        "there are no tools on the server's side to report on",
        neutral=(False,),
        samples=(True,),
    ),
]

ROWS = [*_FUNCTIONS, *_HOSTED_ROWS, *_CHOICE]
