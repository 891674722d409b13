"""Rows of tools and of the choice among them."""

from __future__ import annotations

from app.ledger import Disposition, Parameter
from app.surfaces.messages.ledger import rules
from app.turn.features import Feature

FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
IGNORED, REFUSED = Disposition.IGNORED, Disposition.REFUSED

TOOL_TAGS: dict[str, tuple[str, str | None]] = {
    "tools[]": ("type", "custom"),
    "tool_choice": ("type", None),
}

CLIENT_TOOL_KINDS = (
    "bash_20241022",
    "bash_20250124",
    "text_editor_20241022",
    "text_editor_20250124",
    "text_editor_20250429",
    "text_editor_20250728",
    "memory_20250818",
)
"""Tools that the caller runs, with a schema that the vendor has fixed."""

_SEARCH_KINDS = (
    "tool_search_tool_bm25_20251119",
    "tool_search_tool_bm25",
    "tool_search_tool_regex_20251119",
    "tool_search_tool_regex",
)

_WEB_SEARCH = ("max_uses", "allowed_domains", "blocked_domains", "user_location")
_WEB_FETCH = (
    "max_uses",
    "allowed_domains",
    "blocked_domains",
    "citations",
    "max_content_tokens",
    "url_sources",
)
_SCREEN = ("display_height_px", "display_width_px", "display_number")

_HOSTED: dict[str, tuple[str, tuple[str, ...]]] = {
    # kind: why it is refused, the fields that only this kind has
    "web_search_20250305": ("the vendor's search runs on the vendor's servers", _WEB_SEARCH),
    "web_search_20260209": ("the vendor's search runs on the vendor's servers", _WEB_SEARCH),
    "web_search_20260318": (
        "the vendor's search runs on the vendor's servers",
        (*_WEB_SEARCH, "response_inclusion"),
    ),
    "web_fetch_20250910": ("the vendor's fetcher runs on the vendor's servers", _WEB_FETCH),
    "web_fetch_20260209": ("the vendor's fetcher runs on the vendor's servers", _WEB_FETCH),
    "web_fetch_20260309": ("the vendor's fetcher runs on the vendor's servers", (*_WEB_FETCH, "use_cache")),
    "web_fetch_20260318": (
        "the vendor's fetcher runs on the vendor's servers",
        (*_WEB_FETCH, "use_cache", "response_inclusion"),
    ),
    "code_execution_20250522": ("code would run in the vendor's container", ()),
    "code_execution_20250825": ("code would run in the vendor's container", ()),
    "code_execution_20260120": ("code would run in the vendor's container", ()),
    "code_execution_20260521": ("code would run in the vendor's container", ()),
    "advisor_20260301": (
        "a second model would run on the vendor's servers",
        ("model", "max_uses", "max_tokens", "caching"),
    ),
    "mcp_toolset": (
        "the vendor's servers would call these tools",
        ("mcp_server_name", "configs", "default_config", "tools"),
    ),
    "computer_20241022": ("needs a model trained for it", _SCREEN),
    "computer_20250124": ("needs a model trained for it", _SCREEN),
    "computer_20251124": ("needs a model trained for it", (*_SCREEN, "enable_zoom")),
    "computer_toolset_20260801": ("needs a model trained for it", ("configs",)),
    "browser_toolset_20260801": ("needs a model trained for it", ("configs",)),
}


def offered_tool_rows(prefix: str) -> list[Parameter]:
    """Rows of a tool that the model is offered: the caller's own kind and the vendor's client tools."""
    custom = prefix.removesuffix("[]") + "[type=custom]"
    editor = prefix.removesuffix("[]") + "[type=text_editor_20250728]"
    return [
        Parameter(
            f"{prefix}.type=custom",
            FORWARDED,
            "a tool of the caller's own",
            samples=("custom",),
            wire="tools[].name",
        ),
        *(
            Parameter(
                f"{prefix}.type={kind}",
                EMULATED,
                "the caller runs it; Candor supplies the description and schema that the vendor has fixed",
                samples=(kind,),
                wire="tools[].parameters",
            )
            for kind in CLIENT_TOOL_KINDS
        ),
        Parameter(f"{prefix}.name", FORWARDED, "the tool's name", samples=("f", "g"), wire="tools[].name"),
        Parameter(
            f"{custom}.description",
            FORWARDED,
            "what the tool is for",
            samples=("does a", "does b"),
            wire="tools[].description",
        ),
        Parameter(
            f"{custom}.input_schema",
            FORWARDED,
            "the JSON Schema of its input, carried whole; an empty one becomes an empty object schema",
            samples=(
                {"type": "object", "properties": {"a": {"type": "string"}}},
                {"type": "object", "properties": {"b": {"type": "string"}}},
            ),
            wire="tools[].parameters",
        ),
        Parameter(
            f"{custom}.eager_input_streaming",
            EMULATED,
            "arguments are always streamed as they come",
            exact=True,
            neutral=(False,),
            samples=(True, False),
        ),
        Parameter(
            f"{editor}.max_characters",
            IGNORED,
            "how much of a file the caller's own editor shows; the schema does not speak of it",
            samples=(1000, 2000),
        ),
        Parameter(
            f"{prefix}.strict",
            FORWARDED,
            "whether arguments must conform to the schema",
            feature=Feature.STRICT_TOOLS,
            neutral=(False,),
            samples=(True, False),
            wire="tools[].strict",
        ),
        Parameter(
            f"{prefix}.defer_loading",
            IGNORED,
            "every deferred tool is simply loaded",
            neutral=(False,),
            samples=(True, False),
        ),
        Parameter(
            f"{prefix}.allowed_callers",
            IGNORED,
            "only the model itself calls tools here",
            neutral=(["direct"], []),
            samples=(["code_execution_20250825"], ["direct", "code_execution_20260120"]),
        ),
        Parameter(
            f"{prefix}.input_examples",
            IGNORED,
            "the upstream has no field for examples",
            neutral=([],),
            samples=([{"a": "x"}], [{"a": "y"}]),
        ),
        Parameter(
            f"{prefix}.cache_control",
            IGNORED,
            "a cache breakpoint; where an upstream caches is its own affair",
            samples=({"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}),
        ),
    ]


def _hosted_rows(prefix: str) -> list[Parameter]:
    """Rows of the kinds that the vendor's servers run, at ``prefix``, and of all that they may say."""
    place = prefix.removesuffix("[]")
    return [
        *(
            Parameter(f"{prefix}.type={kind}", REFUSED, why, samples=(kind,))
            for kind, (why, _) in _HOSTED.items()
        ),
        *(
            Parameter(f"{place}[type={kind}].{key}", REFUSED, f"part of {kind}", silent=True)
            for kind, (_, keys) in _HOSTED.items()
            for key in keys
        ),
    ]


_OTHER_KINDS = [
    *(
        Parameter(
            f"tools[].type={kind}",
            IGNORED,
            "a search among deferred tools; every tool is loaded, so there is nothing to search",
            samples=(kind,),
        )
        for kind in _SEARCH_KINDS
    ),
    *_hosted_rows("tools[]"),
]


def unoffered_tool_rows(prefix: str) -> list[Parameter]:
    """Rows of the kinds at ``prefix`` that cannot be added to a request's tools."""
    reason = "only tools that the caller runs can be added"
    searches = [
        Parameter(f"{prefix}.type={kind}", REFUSED, reason, samples=(kind,)) for kind in _SEARCH_KINDS
    ]
    return [*searches, *_hosted_rows(prefix)]


_CHOICE = [
    Parameter("tool_choice", FORWARDED, "see its kinds", silent=True),
    Parameter("tool_choice.type=auto", FORWARDED, "the default", silent=True, samples=("auto",)),
    Parameter(
        "tool_choice.type=none",
        EMULATED,
        "the tools are withheld, so none can be called",
        exact=True,
        samples=("none",),
    ),
    Parameter(
        "tool_choice.type=any",
        FORWARDED,
        "demands a call of any tool",
        feature=Feature.TOOL_CHOICE,
        rule=rules.choice_any,
        samples=("any",),
        wire="tool_choice.option_name",
    ),
    Parameter(
        "tool_choice.type=tool",
        FORWARDED,
        "demands a call of one tool",
        feature=Feature.TOOL_CHOICE,
        rule=rules.choice_any,
        samples=("tool",),
        wire="tool_choice.option_name",
    ),
    Parameter(
        "tool_choice.name",
        FORWARDED,
        "the tool to call; without a choice field upstream it is the only one offered",
        feature=Feature.TOOL_CHOICE,
        without=EMULATED,
        rule=rules.choice_name,
        samples=("f", "g"),
        wire="tool_choice.tool_name",
    ),
    Parameter(
        "tool_choice.disable_parallel_tool_use",
        FORWARDED,
        "at most one call a turn is a preference: served without where the upstream has no field for it",
        feature=Feature.DISABLE_PARALLEL_TOOL_CALLS,
        rule=rules.disable_parallel,
        neutral=(False,),
        samples=(True, False),
        wire="disable_parallel_tool_calls",
        hint_event="parallel_tool_calls_hint_ignored",
    ),
]

TOOL_ROWS = [
    Parameter(
        "tools",
        FORWARDED,
        "what the model may call; one neutral system line is supplied where tools need some system text",
        feature=Feature.TOOLS,
        without=REFUSED,
        rule=rules.tools,
        neutral=([],),
        samples=([{"name": "f", "input_schema": {"type": "object"}}], [{"name": "g", "input_schema": {}}]),
        wire="tools[].name",
    ),
    *offered_tool_rows("tools[]"),
    *_OTHER_KINDS,
    *_CHOICE,
]
