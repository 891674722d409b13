"""The history: roles, content parts, the calls a model made and what they returned."""

from __future__ import annotations

from app.ledger import Disposition, Parameter
from app.surfaces.chat_completions.ledger import rules
from app.turn.features import Feature

FORWARDED = Disposition.FORWARDED
EMULATED = Disposition.EMULATED
IGNORED = Disposition.IGNORED
REFUSED = Disposition.REFUSED

_PIXEL = "data:image/png;base64,iVBORw0KGgo="
_OTHER_PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACw="

ROLES = (
    Parameter(
        "messages",
        FORWARDED,
        "The conversation. Calls and results in it are refused where the upstream knows no tools.",
        rule=rules.messages,
        samples=([{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]),
        wire="messages[].text",
    ),
    Parameter(
        "messages[].role=developer",
        FORWARDED,
        "System text, joined in order with a blank line; after the first user turn it keeps its place as a user "
        "message marked [system], and that is said.",
        feature=Feature.SYSTEM_PROMPT,
        without=REFUSED,
        rule=rules.system_text,
        samples=({"role": "developer", "content": "a"}, {"role": "developer", "content": "b"}),
        wire="system_prompt",
    ),
    Parameter(
        "messages[].role=system",
        FORWARDED,
        "System text, joined in order with a blank line; after the first user turn it keeps its place as a user "
        "message marked [system], and that is said.",
        feature=Feature.SYSTEM_PROMPT,
        without=REFUSED,
        rule=rules.system_text,
        samples=({"role": "system", "content": "a"}, {"role": "system", "content": "b"}),
        wire="system_prompt",
    ),
    Parameter(
        "messages[].role=user",
        FORWARDED,
        "What the user says.",
        samples=({"role": "user", "content": "a"}, {"role": "user", "content": "b"}),
        wire="messages[].text",
    ),
    Parameter(
        "messages[].role=assistant",
        FORWARDED,
        "What the model said and which tools it called.",
        samples=({"role": "assistant", "content": "a"}, {"role": "assistant", "content": "b"}),
        wire="messages[].text",
    ),
    Parameter(
        "messages[].role=tool",
        FORWARDED,
        "What a call returned; without its call it is a 400.",
        samples=(
            {"role": "tool", "tool_call_id": "call_1", "content": "a"},
            {"role": "tool", "tool_call_id": "call_1", "content": "b"},
        ),
        wire="messages[].text",
    ),
    Parameter(
        "messages[].role=function",
        EMULATED,
        "Deprecated: the result of the last call of that name that has none yet.",
        samples=(
            {"role": "function", "name": "f", "content": "a"},
            {"role": "function", "name": "f", "content": "b"},
        ),
        wire="messages[].text",
    ),
)

CONTENT = (
    Parameter(
        "messages[].content",
        FORWARDED,
        "Text or parts; empty text is dropped.",
        samples=("a", [{"type": "text", "text": "b"}]),
        wire="messages[].text",
    ),
    Parameter(
        "messages[].content[].type=text",
        FORWARDED,
        "Plain text.",
        samples=({"type": "text", "text": "a"}, {"type": "text", "text": "b"}),
        wire="messages[].text",
    ),
    Parameter(
        "messages[].content[type=text].text",
        FORWARDED,
        "The text.",
        samples=("a", "b"),
        wire="messages[].text",
    ),
    Parameter(
        "messages[].content[].type=refusal",
        FORWARDED,
        "What the assistant said when it refused: assistant text.",
        samples=({"type": "refusal", "refusal": "a"}, {"type": "refusal", "refusal": "b"}),
        wire="messages[].text",
    ),
    Parameter(
        "messages[].content[type=refusal].refusal",
        FORWARDED,
        "The text.",
        samples=("a", "b"),
        wire="messages[].text",
    ),
    Parameter(
        "messages[].content[].type=image_url",
        FORWARDED,
        "An image as a data: URI; without it the question may make no sense, so it is never left out.",
        feature=Feature.IMAGES,
        without=REFUSED,
        samples=(
            {"type": "image_url", "image_url": {"url": _PIXEL}},
            {"type": "image_url", "image_url": {"url": _OTHER_PIXEL}},
        ),
        wire="messages[].images",
    ),
    Parameter(
        "messages[].content[type=image_url].image_url",
        FORWARDED,
        "The image.",
        samples=({"url": _PIXEL}, {"url": _OTHER_PIXEL}),
        wire="messages[].images",
    ),
    Parameter(
        "messages[].content[type=image_url].image_url.url",
        FORWARDED,
        "A data: URI goes to the upstream as it is; an http(s) URL is refused, because nothing is fetched.",
        rule=rules.image_url,
        samples=(_PIXEL, _OTHER_PIXEL),
        wire="messages[].images",
    ),
    Parameter(
        "messages[].content[type=image_url].image_url.detail",
        IGNORED,
        "A resolution preference that no upstream takes.",
        neutral=("auto",),
        samples=("high", "low"),
    ),
    Parameter(
        "messages[].content[].type=input_audio",
        REFUSED,
        "No upstream hears; leaving the audio out would leave the question out.",
        samples=({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},),
    ),
    Parameter(
        "messages[].content[type=input_audio].input_audio",
        REFUSED,
        "See input_audio.",
        silent=True,
        samples=({"data": "AAAA", "format": "wav"},),
    ),
    Parameter(
        "messages[].content[].type=file",
        REFUSED,
        "No upstream reads documents, and a file_id names a store that is not here.",
        samples=({"type": "file", "file": {"file_id": "file-1"}},),
    ),
    Parameter(
        "messages[].content[type=file].file",
        REFUSED,
        "See file.",
        silent=True,
        samples=({"file_id": "file-1"}, {"file_data": "AAAA", "filename": "a.pdf"}),
    ),
    Parameter(
        "messages[].content[].prompt_cache_breakpoint",
        IGNORED,
        "Caching only; the answer is the same.",
        samples=({"mode": "explicit"}, {"mode": "explicit", "ttl": "12h"}),
    ),
    Parameter(
        "messages[].content[].cache_control",
        IGNORED,
        "Another vendor's caching mark, sent by clients of several vendors.",
        samples=({"type": "ephemeral"},),
    ),
)

HISTORY = (
    Parameter(
        "messages[].name",
        IGNORED,
        "No upstream tells participants of one role apart.",
        samples=("ann", "bob"),
    ),
    Parameter(
        "messages[role=function].name",
        EMULATED,
        "Pairs the result with its call.",
        exact=True,
        samples=("f", "g"),
    ),
    Parameter(
        "messages[role=assistant].refusal",
        FORWARDED,
        "What the assistant said when it refused: assistant text.",
        samples=("a", "b"),
        wire="messages[].text",
    ),
    Parameter(
        "messages[role=assistant].audio",
        REFUSED,
        "Points at audio that another server holds.",
        samples=({"id": "audio_1"},),
    ),
    Parameter(
        "messages[role=assistant].annotations",
        IGNORED,
        "Part of a reply that clients send back; it tells the model nothing.",
        neutral=([],),
        samples=([{"type": "url_citation"}],),
    ),
    Parameter(
        "messages[role=assistant].reasoning_content",
        IGNORED,
        "Reasoning that a reply carried: without a seal nobody knows whose it is, so it is not replayed.",
        neutral=("",),
        samples=("hm", "ah"),
    ),
    Parameter(
        "messages[role=assistant].reasoning",
        IGNORED,
        "Another spelling of reasoning_content.",
        neutral=("",),
        samples=("hm", "ah"),
    ),
    Parameter(
        "messages[role=assistant].tool_calls",
        FORWARDED,
        "The calls that the model made, each of which needs its result.",
        samples=([{"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],),
        wire="messages[].tool_calls",
    ),
    Parameter(
        "messages[role=assistant].tool_calls[].type=function",
        FORWARDED,
        "A call of a function.",
        samples=({"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}},),
        wire="messages[].tool_calls",
    ),
    Parameter(
        "messages[role=assistant].tool_calls[].type=custom",
        EMULATED,
        "A call of a custom tool: its text becomes the one argument of the function that stands for the tool.",
        samples=({"id": "call_1", "type": "custom", "custom": {"name": "c", "input": "a"}},),
        wire="messages[].tool_calls",
    ),
    Parameter(
        "messages[role=assistant].tool_calls[].id",
        FORWARDED,
        "Opaque, of any length.",
        samples=("call_1", "call_2"),
        wire="messages[].tool_calls[].id",
    ),
    Parameter(
        "messages[role=assistant].tool_calls[type=function].function",
        FORWARDED,
        "What was called.",
        samples=({"name": "f", "arguments": "{}"}, {"name": "f", "arguments": '{"x":1}'}),
        wire="messages[].tool_calls",
    ),
    Parameter(
        "messages[role=assistant].tool_calls[type=function].function.name",
        FORWARDED,
        "The function's name.",
        samples=("f", "g"),
        wire="messages[].tool_calls[].name",
    ),
    Parameter(
        "messages[role=assistant].tool_calls[type=function].function.arguments",
        FORWARDED,
        "JSON text, passed byte for byte.",
        samples=('{ "x" : 1 }', "{}"),
        wire="messages[].tool_calls[].arguments_json",
    ),
    Parameter(
        "messages[role=assistant].tool_calls[type=custom].custom",
        FORWARDED,
        "What was called.",
        samples=({"name": "c", "input": "a"}, {"name": "c", "input": "b"}),
        wire="messages[].tool_calls",
    ),
    Parameter(
        "messages[role=assistant].tool_calls[type=custom].custom.name",
        FORWARDED,
        "The tool's name.",
        samples=("c", "d"),
        wire="messages[].tool_calls[].name",
    ),
    Parameter(
        "messages[role=assistant].tool_calls[type=custom].custom.input",
        FORWARDED,
        "The text, as the one argument.",
        samples=("a", "b"),
        wire="messages[].tool_calls[].arguments_json",
    ),
    Parameter(
        "messages[role=assistant].function_call",
        EMULATED,
        "Deprecated: becomes a tool call with an id of Candor's own.",
        samples=({"name": "f", "arguments": "{}"}, {"name": "f", "arguments": '{"x":1}'}),
        wire="messages[].tool_calls",
    ),
    Parameter(
        "messages[role=assistant].function_call.name",
        FORWARDED,
        "The function's name.",
        samples=("f", "g"),
        wire="messages[].tool_calls[].name",
    ),
    Parameter(
        "messages[role=assistant].function_call.arguments",
        FORWARDED,
        "JSON text, passed byte for byte.",
        samples=('{ "x" : 1 }', "{}"),
        wire="messages[].tool_calls[].arguments_json",
    ),
    Parameter(
        "messages[role=tool].tool_call_id",
        FORWARDED,
        "Pairs the result with its call.",
        samples=("call_1", "call_2"),
        wire="messages[].tool_call_id",
    ),
)

MESSAGE_ROWS = (*ROLES, *CONTENT, *HISTORY)
