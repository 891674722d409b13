"""What stands at the top of the body: sampling, format, stream, labels, and what clients add of their own."""

from __future__ import annotations

from app.ledger import Disposition, Parameter
from app.surfaces.chat_completions.ledger import rules
from app.turn.features import Feature

FORWARDED = Disposition.FORWARDED
EMULATED = Disposition.EMULATED
IGNORED = Disposition.IGNORED
REFUSED = Disposition.REFUSED

MODEL_AND_SAMPLING = (
    Parameter(
        "model",
        FORWARDED,
        "Chooses the upstream and the name that the upstream knows the model by; an unknown one is a 404.",
        samples=("fake-echo", "fake-tools"),
        wire="model",
    ),
    Parameter(
        "max_completion_tokens",
        FORWARDED,
        "The cap on what the model may write; it wins over max_tokens.",
        feature=Feature.MAX_OUTPUT_TOKENS,
        samples=(17, 18),
        wire="completion.max_tokens",
    ),
    Parameter(
        "max_tokens",
        FORWARDED,
        "The deprecated spelling of max_completion_tokens; ignored beside a different value of that.",
        feature=Feature.MAX_OUTPUT_TOKENS,
        rule=rules.max_tokens,
        samples=(19, 20),
        wire="completion.max_tokens",
    ),
    Parameter(
        "temperature",
        FORWARDED,
        "From 0 to 2. An upstream that fails on exactly 0 gets 0.001.",
        feature=Feature.TEMPERATURE,
        rule=rules.temperature,
        samples=(0.25, 1.5),
        wire="completion.temperature",
    ),
    Parameter(
        "top_p",
        FORWARDED,
        "From 0 to 1; 0 differs from absent.",
        feature=Feature.TOP_P,
        samples=(0.0, 0.9),
        wire="completion.top_p",
    ),
    Parameter(
        "top_k",
        FORWARDED,
        "No parameter of the vendor's, but clients send it and upstreams take it.",
        feature=Feature.TOP_K,
        samples=(0, 40),
        wire="completion.top_k",
    ),
    Parameter(
        "stop",
        EMULATED,
        "Candor cuts the answer at the first stop string, also across chunks, and cancels the upstream.",
        exact=True,
        neutral=([],),
        samples=("END", ["END", "STOP"]),
    ),
    Parameter(
        "n",
        REFUSED,
        "One turn gives one answer; a caller of several reads choices[1], which would not be there.",
        neutral=(1,),
        samples=(2, 0),
    ),
    Parameter(
        "frequency_penalty",
        IGNORED,
        "A sampling preference that no upstream takes; any sample is a valid answer.",
        neutral=(0,),
        samples=(0.5, -0.5),
    ),
    Parameter(
        "presence_penalty",
        IGNORED,
        "A sampling preference that no upstream takes; any sample is a valid answer.",
        neutral=(0,),
        samples=(0.5, -0.5),
    ),
    Parameter(
        "seed",
        IGNORED,
        "Best effort by the vendor's own definition; no upstream takes it, so no system_fingerprint is sent.",
        samples=(7, 0),
    ),
    Parameter(
        "logit_bias",
        REFUSED,
        "Bans or forces tokens, so that leaving it out changes what is correct.",
        neutral=({},),
        samples=({"50256": -100}, {"1": 5}),
    ),
    Parameter(
        "logprobs",
        REFUSED,
        "Asks for data that no upstream gives.",
        neutral=(False,),
        samples=(True,),
    ),
    Parameter(
        "top_logprobs",
        REFUSED,
        "Asks for data that no upstream gives.",
        neutral=(0,),
        samples=(3, 1),
    ),
    Parameter(
        "reasoning_effort",
        IGNORED,
        "A preference that no upstream takes; with `none` no reasoning text is handed out either.",
        samples=("high", "none"),
    ),
    Parameter(
        "verbosity",
        IGNORED,
        "A preference that no upstream takes; prompts are not rewritten for it.",
        samples=("low", "high"),
    ),
)

OUTPUT = (
    Parameter(
        "stream",
        EMULATED,
        "The answer is written as server-sent chunks that end with [DONE].",
        exact=True,
        neutral=(False,),
        samples=(True,),
    ),
    Parameter(
        "stream_options",
        EMULATED,
        "Shapes the chunks; a 400 without stream.",
        exact=True,
        samples=({"include_usage": True}, {"include_usage": False}),
    ),
    Parameter(
        "stream_options.include_usage",
        EMULATED,
        "One last chunk without choices carries the usage; all others say usage: null.",
        exact=True,
        neutral=(False,),
        samples=(True,),
    ),
    Parameter(
        "stream_options.include_obfuscation",
        IGNORED,
        "Padding against traffic analysis; Candor adds none.",
        neutral=(False,),
        samples=(True,),
    ),
    Parameter(
        "response_format",
        FORWARDED,
        "A demanded shape of the answer. Where an upstream cannot guarantee it, it is described to the model "
        "in a line of system text, and the missing guarantee is named as ignored.",
        feature=Feature.STRUCTURED_OUTPUT,
        without=EMULATED,
        rule=rules.response_format,
        samples=(
            {"type": "json_object"},
            {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}},
        ),
        wire="system_prompt",
    ),
    Parameter(
        "response_format.type=text",
        FORWARDED,
        "Plain text is what every upstream writes; it asks for nothing.",
        silent=True,
        samples=({"type": "text"},),
    ),
    Parameter(
        "response_format.type=json_object",
        EMULATED,
        "Any JSON object; see response_format.",
        silent=True,
        samples=({"type": "json_object"},),
        wire="system_prompt",
    ),
    Parameter(
        "response_format.type=json_schema",
        EMULATED,
        "JSON by a schema; see response_format.",
        silent=True,
        samples=({"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}},),
        wire="system_prompt",
    ),
    Parameter(
        "response_format[type=json_schema].json_schema",
        EMULATED,
        "The schema and its name; see response_format.",
        silent=True,
        samples=({"name": "a", "schema": {"type": "object"}}, {"name": "b", "schema": {"type": "array"}}),
        wire="system_prompt",
    ),
    Parameter(
        "response_format[type=json_schema].json_schema.name",
        EMULATED,
        "Described to the model with the schema.",
        silent=True,
        samples=("a", "b"),
        wire="system_prompt",
    ),
    Parameter(
        "response_format[type=json_schema].json_schema.description",
        EMULATED,
        "Described to the model with the schema.",
        silent=True,
        samples=("one", "two"),
        wire="system_prompt",
    ),
    Parameter(
        "response_format[type=json_schema].json_schema.schema",
        EMULATED,
        "Described to the model as it is.",
        silent=True,
        samples=({"type": "object"}, {"type": "array"}),
        wire="system_prompt",
    ),
    Parameter(
        "response_format[type=json_schema].json_schema.strict",
        FORWARDED,
        "The guarantee that the answer conforms, where an upstream can give it.",
        feature=Feature.STRUCTURED_OUTPUT,
        neutral=(False,),
        samples=(True,),
    ),
    Parameter(
        "modalities",
        REFUSED,
        "No upstream writes anything but text.",
        neutral=(["text"], []),
        samples=(["text", "audio"], ["audio"]),
    ),
    Parameter(
        "audio",
        IGNORED,
        "Only matters with audio output, for which `modalities` is refused.",
        samples=({"format": "wav", "voice": "alloy"}, {"format": "mp3", "voice": "echo"}),
    ),
    Parameter("audio.format", IGNORED, "See audio.", silent=True, samples=("wav", "mp3")),
    Parameter("audio.voice", IGNORED, "See audio.", silent=True, samples=("alloy", "echo")),
    Parameter(
        "prediction",
        IGNORED,
        "Makes answers faster, never different.",
        samples=({"type": "content", "content": "a"}, {"type": "content", "content": "b"}),
    ),
    Parameter(
        "prediction.type=content",
        IGNORED,
        "See prediction.",
        silent=True,
        samples=({"type": "content", "content": "a"},),
    ),
    Parameter(
        "prediction[type=content].content",
        IGNORED,
        "See prediction.",
        silent=True,
        samples=("a", [{"type": "text", "text": "b"}]),
    ),
    Parameter(
        "moderation",
        REFUSED,
        "A safety contract with a result that the caller reads; no upstream screens.",
        samples=(
            {"model": "omni-moderation-latest"},
            {"model": "omni", "policy": {"input": {"mode": "block"}}},
        ),
    ),
    Parameter("moderation.model", REFUSED, "See moderation.", silent=True, samples=("omni", "other")),
    Parameter(
        "moderation.policy",
        REFUSED,
        "See moderation.",
        silent=True,
        samples=({"input": {"mode": "block"}}, {"output": {"mode": "score"}}),
    ),
    Parameter(
        "web_search_options",
        REFUSED,
        "Asks for a hosted search and its citations, even when it is empty.",
        samples=({}, {"search_context_size": "low"}),
    ),
    Parameter(
        "web_search_options.search_context_size",
        REFUSED,
        "See web_search_options.",
        silent=True,
        samples=("low", "high"),
    ),
    Parameter(
        "web_search_options.user_location",
        REFUSED,
        "See web_search_options.",
        silent=True,
        samples=(
            {"type": "approximate", "approximate": {"city": "Oslo"}},
            {"type": "approximate", "approximate": {"city": "Bonn"}},
        ),
    ),
)

LABELS_AND_SERVICE = (
    Parameter(
        "metadata",
        EMULATED,
        "The caller's labels: checked against the documented limits and given back with the reply.",
        exact=True,
        neutral=({},),
        samples=({"a": "1"}, {"b": "2"}),
    ),
    Parameter(
        "store",
        EMULATED,
        "Kept for the caller within bounds, and found by its id.",
        exact=True,
        neutral=(False,),
        samples=(True,),
    ),
    Parameter(
        "service_tier",
        IGNORED,
        "There is one tier; the reply says that it was `default`.",
        neutral=("auto", "default"),
        samples=("priority", "flex"),
    ),
    Parameter(
        "user",
        IGNORED,
        "A label for the vendor's abuse tracking.",
        samples=("u1", "u2"),
    ),
    Parameter(
        "safety_identifier",
        IGNORED,
        "A label for the vendor's abuse tracking.",
        samples=("s1", "s2"),
    ),
    Parameter(
        "prompt_cache_key",
        EMULATED,
        "The session upstream is derived from it where CANDOR_SESSION_FROM=caller; no cache is routed by it.",
        feature=Feature.SESSION_KEY,
        exact=True,
        samples=("k1", "k2"),
    ),
    Parameter(
        "prompt_cache_options",
        IGNORED,
        "Caching only; the answer is the same.",
        samples=({"mode": "explicit"}, {"ttl": "30m"}),
    ),
    Parameter(
        "prompt_cache_options.mode",
        IGNORED,
        "See prompt_cache_options.",
        silent=True,
        samples=("explicit", "implicit"),
    ),
    Parameter(
        "prompt_cache_options.ttl", IGNORED, "See prompt_cache_options.", silent=True, samples=("30m",)
    ),
    Parameter(
        "prompt_cache_retention",
        IGNORED,
        "Caching only; the answer is the same. Deprecated.",
        samples=("24h", "in_memory"),
    ),
)

CLIENT_EXTENSIONS = (
    Parameter(
        "include_reasoning",
        EMULATED,
        "An aggregator's parameter: with false no reasoning text is handed out.",
        exact=True,
        neutral=(True,),
        samples=(False,),
    ),
    Parameter(
        "reasoning",
        IGNORED,
        "An aggregator's parameter; no upstream takes reasoning settings.",
        samples=({"effort": "high"}, {"max_tokens": 100}),
    ),
    Parameter(
        "min_p", IGNORED, "A local server's sampling parameter; no upstream takes it.", samples=(0.1, 0.2)
    ),
    Parameter(
        "chat_template_kwargs",
        IGNORED,
        "A local server's template settings; upstreams have no template.",
        samples=({"enable_thinking": False}, {"enable_thinking": True}),
    ),
    Parameter(
        "enable_thinking",
        IGNORED,
        "Another vendor's reasoning switch; no upstream takes it.",
        samples=(True, False),
    ),
    Parameter(
        "thinking",
        IGNORED,
        "Another vendor's reasoning settings; no upstream takes them.",
        samples=({"type": "enabled"}, {"type": "disabled"}),
    ),
    Parameter(
        "extra_body",
        IGNORED,
        "An argument of the SDK that should not have reached the wire; its content is not looked into.",
        samples=({"a": 1}, {"b": 2}),
    ),
)

REQUEST_ROWS = (*MODEL_AND_SAMPLING, *OUTPUT, *LABELS_AND_SERVICE, *CLIENT_EXTENSIONS)
