"""Rows of the request's top level and its config objects, `tool_choice` apart.

Source: the ``openai`` package's ``ResponseCreateParams``; ``client_metadata``, ``generate`` and ``top_k`` are
sent by clients though no SDK lists them, ``personality`` belongs to ``/v1/responses/input_tokens``.
"""

from __future__ import annotations

from app.ledger import Disposition, Parameter
from app.surfaces.responses.ledger import rules
from app.turn.features import Feature

FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
IGNORED, REFUSED = Disposition.IGNORED, Disposition.REFUSED

_FORMAT = {"type": "json_schema", "name": "o", "schema": {"type": "object"}}

_TURN = [
    Parameter(
        "model",
        FORWARDED,
        "Names the model, by its id or an alias.",
        wire="model",
        samples=("fake-echo", "fake-tools"),
    ),
    Parameter(
        "input",
        FORWARDED,
        "A string, or items by kind; calls and results need an upstream that has tools.",
        rule=rules.input_items,
        wire="messages[].text",
        samples=("hello", "good day"),
    ),
    Parameter(
        "instructions",
        FORWARDED,
        "Comes first in the system text.",
        feature=Feature.SYSTEM_PROMPT,
        without=REFUSED,
        neutral=("",),
        wire="system_prompt",
        samples=("Be brief.", "Be thorough."),
    ),
    Parameter(
        "max_output_tokens",
        FORWARDED,
        "Caps the answer, reasoning included; a capped turn is incomplete.",
        feature=Feature.MAX_OUTPUT_TOKENS,
        wire="completion.max_tokens",
        samples=(64, 128),
    ),
    Parameter(
        "temperature",
        FORWARDED,
        "Sent as it is; 0 becomes 0.001 where the upstream fails on 0.",
        feature=Feature.TEMPERATURE,
        rule=rules.temperature,
        wire="completion.temperature",
        samples=(0.25, 1.5),
    ),
    Parameter(
        "top_p",
        FORWARDED,
        "Sent as it is.",
        feature=Feature.TOP_P,
        wire="completion.top_p",
        samples=(0.0, 0.5),
    ),
    Parameter(
        "top_k",
        FORWARDED,
        "Not documented here, but sent by clients; sent as it is.",
        feature=Feature.TOP_K,
        wire="completion.top_k",
        samples=(0, 40),
    ),
    Parameter(
        "parallel_tool_calls",
        FORWARDED,
        "false is a preference: served, never cut; the reply echoes what is in force.",
        feature=Feature.DISABLE_PARALLEL_TOOL_CALLS,
        neutral=(True,),
        rule=rules.parallel_tool_calls,
        wire="disable_parallel_tool_calls",
        samples=(False, True),
        hint_event="parallel_tool_calls_hint_ignored",
    ),
    Parameter(
        "stream",
        EMULATED,
        "The whole ladder of events, or one object.",
        exact=True,
        neutral=(False,),
        samples=(True, False),
    ),
    Parameter(
        "stream_options.include_obfuscation",
        IGNORED,
        "Padding against traffic analysis is not added.",
        neutral=(False,),
        samples=(True, False),
    ),
    Parameter(
        "stream_options",
        EMULATED,
        "By field.",
        silent=True,
        samples=({"include_obfuscation": False}, {"include_obfuscation": True}),
    ),
]

_TEXT = [
    Parameter(
        "text",
        EMULATED,
        "By field.",
        silent=True,
        samples=({"format": {"type": "text"}}, {"format": _FORMAT}),
    ),
    Parameter(
        "text.format",
        FORWARDED,
        "Described in one line of system text where no upstream can guarantee it; the missing guarantee is named.",
        feature=Feature.STRUCTURED_OUTPUT,
        without=EMULATED,
        wire="system_prompt",
        rule=rules.text_format,
        samples=(_FORMAT, {"type": "json_object"}),
    ),
    Parameter("text.format.type=text", FORWARDED, "The default: asks for nothing.", silent=True),
    Parameter("text.format.type=json_object", EMULATED, "Decided with `text.format`.", silent=True),
    Parameter("text.format.type=json_schema", EMULATED, "Decided with `text.format`.", silent=True),
    *(
        Parameter(
            f"text.format[type=json_schema].{name}",
            EMULATED,
            "Part of the description in the system text.",
            silent=True,
        )
        for name in ("name", "schema", "description")
    ),
    Parameter(
        "text.format[type=json_schema].strict",
        IGNORED,
        "Asks for the guarantee; decided with `text.format`, which names it.",
        silent=True,
        samples=(True, False),
    ),
    Parameter(
        "text.verbosity",
        IGNORED,
        "A preference; no prompt is rewritten for it.",
        neutral=("medium",),
        samples=("low", "high"),
    ),
]

_REASONING = [
    Parameter("reasoning", EMULATED, "By field.", silent=True),
    Parameter(
        "reasoning.effort",
        IGNORED,
        "A preference that the upstream has no field for; none also keeps reasoning out of the reply.",
        samples=("low", "high"),
    ),
    Parameter(
        "reasoning.summary",
        EMULATED,
        "The reasoning text itself goes out as summary parts, whatever length was asked.",
        samples=("auto", "detailed"),
    ),
    Parameter(
        "reasoning.generate_summary",
        EMULATED,
        "The older spelling of `reasoning.summary`.",
        samples=("auto", "detailed"),
    ),
    Parameter(
        "reasoning.context",
        IGNORED,
        "Which earlier reasoning is read again is not ours to choose.",
        neutral=("auto",),
        samples=("current_turn", "all_turns"),
    ),
    Parameter(
        "reasoning.mode",
        IGNORED,
        "A preference that the upstream has no field for.",
        neutral=("standard",),
        samples=("pro", "standard"),
    ),
]

_INCLUDE = [
    Parameter(
        "include",
        EMULATED,
        "By value.",
        silent=True,
        samples=(["reasoning.encrypted_content"], ["web_search_call.results"]),
    ),
    Parameter(
        "include[]=reasoning.encrypted_content",
        EMULATED,
        "Reasoning goes out sealed, to be sent back.",
        exact=True,
    ),
    Parameter("include[]=message.output_text.logprobs", REFUSED, "The upstream has no log probabilities."),
    *(
        Parameter(f"include[]={value}", IGNORED, "No item is ever produced that would hold it.")
        for value in (
            "file_search_call.results",
            "web_search_call.results",
            "web_search_call.action.sources",
            "computer_call_output.output.image_url",
            "code_interpreter_call.outputs",
        )
    ),
    Parameter(
        "include[]=message.input_image.image_url",
        EMULATED,
        "Shows in stored input items only, and always does there.",
        exact=True,
    ),
]

_LABELS = [
    Parameter(
        "metadata",
        EMULATED,
        "Labels, checked and echoed in every copy of the response.",
        exact=True,
        neutral=({},),
        samples=({"k": "v"}, {"k": "w"}),
    ),
    Parameter(
        "prompt_cache_key",
        EMULATED,
        "The session upstream is derived from it where CANDOR_SESSION_FROM=caller; no cache is routed by it.",
        feature=Feature.SESSION_KEY,
        exact=True,
        samples=("a", "b"),
    ),
    Parameter(
        "safety_identifier", IGNORED, "Echoed; nobody upstream tracks abuse by it.", samples=("a", "b")
    ),
    Parameter("user", IGNORED, "Echoed; nobody upstream tracks abuse by it.", samples=("a", "b")),
    Parameter(
        "client_metadata",
        IGNORED,
        "A client's labels for its own service; Codex CLI sends them.",
        samples=({"turn_id": "a"}, {"turn_id": "b"}),
    ),
]

_SERVICE = [
    Parameter(
        "service_tier",
        IGNORED,
        "There is one tier; the reply says default.",
        neutral=("auto", "default"),
        samples=("flex", "priority"),
    ),
    Parameter(
        "truncation",
        IGNORED,
        "The whole context is sent; past the window the caller gets an error.",
        neutral=("disabled",),
        samples=("auto", "disabled"),
    ),
    Parameter(
        "context_management",
        IGNORED,
        "The whole context is sent, so nothing is compacted.",
        neutral=([],),
        samples=([{"type": "compaction", "compact_threshold": 1000}],),
    ),
    *(
        Parameter(f"context_management[].{name}", IGNORED, "Goes with `context_management`.", silent=True)
        for name in ("type", "compact_threshold")
    ),
    Parameter(
        "max_tool_calls",
        IGNORED,
        "Counts calls of hosted tools only, and there are none.",
        samples=(1, 2),
    ),
    Parameter(
        "top_logprobs",
        REFUSED,
        "The upstream has no log probabilities.",
        neutral=(0,),
        samples=(1, 5),
    ),
    Parameter(
        "moderation",
        REFUSED,
        "A safety contract with a result that the caller reads.",
        samples=({"model": "omni-moderation-latest"},),
    ),
    *(
        Parameter(f"moderation.{name}", REFUSED, "Goes with `moderation`.", silent=True)
        for name in ("model", "policy")
    ),
    Parameter(
        "access_programs",
        IGNORED,
        "An entitlement of the vendor's own.",
        samples=({"cyber": "standard"},),
    ),
    Parameter("access_programs.cyber", IGNORED, "Goes with `access_programs`.", silent=True),
    Parameter("image", EMULATED, "By field.", silent=True),
    Parameter(
        "image.context_compression",
        IGNORED,
        "Saves image tokens; images are sent as they are.",
        neutral=("auto", "disabled"),
        samples=("enabled", "disabled"),
    ),
    Parameter("prompt_cache_options", EMULATED, "By field.", silent=True),
    Parameter(
        "prompt_cache_options.prewarm",
        REFUSED,
        "Asks for a turn without an answer, which cannot be run.",
        rule=rules.prewarm,
        neutral=(False,),
        samples=(True, False),
    ),
    *(
        Parameter(
            f"prompt_cache_options.{name}", IGNORED, "Caching is the upstream's own affair.", samples=samples
        )
        for name, samples in (
            ("comparison_response_id", ("resp_a", "resp_b")),
            ("mode", ("implicit", "explicit")),
            ("ttl", ("30m", "12h")),
        )
    ),
    Parameter(
        "prompt_cache_retention",
        IGNORED,
        "Caching is the upstream's own affair.",
        samples=("in_memory", "24h"),
    ),
    Parameter(
        "generate",
        REFUSED,
        "false asks for a turn without an answer, which cannot be run.",
        rule=rules.generate,
        neutral=(True,),
        samples=(False, True),
    ),
    Parameter(
        "personality",
        IGNORED,
        "A tone of the vendor's own; it changes token counts only.",
        samples=("friendly", "pragmatic"),
    ),
]

REQUEST_ROWS = [
    *_TURN,
    *_TEXT,
    *_REASONING,
    *_INCLUDE,
    *_LABELS,
    *_SERVICE,
]
