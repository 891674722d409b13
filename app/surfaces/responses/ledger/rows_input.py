"""Rows of ``input[]``: messages and their parts, reasoning, items that bring tools or point elsewhere.

Source: the ``openai`` package's ``ResponseInputItemParam``. Calls and their outputs are in ``rows_calls``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from app.ledger import Disposition, Parameter
from app.seals import Seals
from app.surfaces.responses.ledger import rules
from app.turn.features import Feature

FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
IGNORED, REFUSED = Disposition.IGNORED, Disposition.REFUSED

LABEL = "A label of the item; it asks for nothing."
PNG = "data:image/png;base64,iVBORw0KGgo="
GIF = "data:image/gif;base64,R0lGODlhAQABAAAAACw="


def silent(prefix: str, disposition: Disposition, reason: str, names: Iterable[str]) -> Iterator[Parameter]:
    """Rows that are never a finding of their own."""
    for name in names:
        yield Parameter(f"{prefix}.{name}", disposition, reason, silent=True)


def input_parts(place: str) -> Iterator[Parameter]:
    """Rows of the part kinds that callers write, at ``place`` (``....content[]`` or ``....output[]``)."""
    kinds = place[:-2]
    yield Parameter(f"{place}.type=input_text", FORWARDED, "Plain text.", wire="messages[].text")
    yield Parameter(
        f"{kinds}[type=input_text].text",
        FORWARDED,
        "Sent as it is; empty text makes no message.",
        wire="messages[].text",
        samples=("hello", "good day"),
    )
    yield Parameter(
        f"{place}.type=input_image",
        FORWARDED,
        "An image that is in the body; without it the question would be another.",
        feature=Feature.IMAGES,
        without=REFUSED,
        wire="messages[].images[].base64_data",
    )
    yield Parameter(
        f"{kinds}[type=input_image].image_url",
        FORWARDED,
        "A data: URI; remote URLs are not fetched.",
        rule=rules.image_url,
        wire="messages[].images[].base64_data",
        samples=(PNG, GIF),
    )
    yield Parameter(
        f"{kinds}[type=input_image].file_id",
        REFUSED,
        "Names a file in a store that is not ours.",
        samples=("file-a", "file-b"),
    )
    yield Parameter(
        f"{kinds}[type=input_image].detail",
        IGNORED,
        "The upstream scales images by itself.",
        neutral=("auto",),
        samples=("low", "high"),
    )
    yield Parameter(f"{place}.type=input_file", REFUSED, "No upstream reads documents.")
    yield from silent(
        f"{kinds}[type=input_file]",
        REFUSED,
        "Goes with its file, which is refused.",
        ("detail", "file_data", "file_id", "file_url", "filename", "prompt_cache_breakpoint"),
    )
    for kind in ("input_text", "input_image"):
        yield Parameter(
            f"{kinds}[type={kind}].prompt_cache_breakpoint",
            IGNORED,
            "Caching is the upstream's own affair.",
            samples=({"mode": "explicit", "ttl": "30m"}, {"mode": "explicit", "ttl": "12h"}),
        )


def _messages() -> Iterator[Parameter]:
    item = "input[type=message]"
    yield Parameter("input[].type=message", FORWARDED, "Also an item without a type.", wire="messages[].text")
    yield Parameter(
        f"{item}.role",
        FORWARDED,
        "system and developer are system text; after the first user message they keep their place, marked.",
        wire="messages[].source",
        samples=("user", "assistant", "system", "developer"),
    )
    yield Parameter(
        f"{item}.content",
        FORWARDED,
        "A string or parts.",
        wire="messages[].text",
        samples=("hello", "good day"),
    )
    yield from silent(item, EMULATED, LABEL, ("id", "status"))
    yield Parameter(
        f"{item}.phase",
        IGNORED,
        "The upstream does not tell commentary from answers.",
        samples=("commentary", "final_answer"),
    )
    parts = f"{item}.content[]"
    yield from input_parts(parts)
    yield Parameter(
        f"{parts}.type=output_text", FORWARDED, "Text of an earlier answer.", wire="messages[].text"
    )
    text = f"{item}.content[type=output_text]"
    yield Parameter(
        f"{text}.text", FORWARDED, "Sent as it is.", wire="messages[].text", samples=("hello", "good day")
    )
    yield Parameter(
        f"{text}.annotations",
        IGNORED,
        "The upstream has no citations.",
        neutral=([],),
        samples=([{"type": "file_path", "file_id": "file-a", "index": 0}],),
    )
    yield Parameter(
        f"{text}.logprobs",
        IGNORED,
        "Log probabilities of an earlier answer say nothing to a model.",
        neutral=([],),
        samples=([{"token": "a", "bytes": [97], "logprob": 0.0, "top_logprobs": []}],),
    )
    yield Parameter(f"{parts}.type=refusal", FORWARDED, "As text of the assistant.", wire="messages[].text")
    yield Parameter(
        f"{item}.content[type=refusal].refusal",
        FORWARDED,
        "As text of the assistant.",
        wire="messages[].text",
        samples=("I cannot.", "I will not."),
    )


def _reasoning(seals: Seals) -> Iterator[Parameter]:
    item = "input[type=reasoning]"
    yield Parameter("input[].type=reasoning", EMULATED, "By what it holds.", silent=True)
    yield from silent(item, EMULATED, LABEL, ("id", "status"))
    yield Parameter(
        f"{item}.encrypted_content",
        FORWARDED,
        "Our own seal is opened and the reasoning replayed where the upstream takes it back.",
        feature=Feature.REASONING_HISTORY,
        rule=rules.sealed_reasoning(seals),
        wire="messages[].reasoning",
        samples=(seals.wrap("first thought"), seals.wrap("second thought")),
    )
    yield Parameter(
        f"{item}.summary",
        IGNORED,
        "For people; what is replayed is the sealed text. Named when the item holds nothing else.",
        silent=True,
    )
    yield Parameter(
        f"{item}.content",
        IGNORED,
        "Bears nobody's seal; what is replayed is the sealed text. Named when the item has no seal.",
        silent=True,
    )
    yield Parameter(f"{item}.summary[].type=summary_text", IGNORED, "Goes with its summary.", silent=True)
    yield Parameter(f"{item}.summary[type=summary_text].text", IGNORED, "Goes with its summary.", silent=True)
    yield Parameter(f"{item}.content[].type=reasoning_text", IGNORED, "Goes with its content.", silent=True)
    yield Parameter(
        f"{item}.content[type=reasoning_text].text", IGNORED, "Goes with its content.", silent=True
    )


def _bringing_tools() -> Iterator[Parameter]:
    yield Parameter(
        "input[].type=additional_tools",
        EMULATED,
        "Its tools join the request's tools.",
        exact=True,
    )
    yield from silent("input[type=additional_tools]", EMULATED, LABEL, ("id", "role"))
    yield Parameter(
        "input[type=additional_tools].tools",
        FORWARDED,
        "By kind, as `tools`.",
        feature=Feature.TOOLS,
        without=REFUSED,
        neutral=([],),
        rule=rules.tools,
        wire="tools[].name",
        samples=([{"type": "function", "name": "f"}], [{"type": "function", "name": "g"}]),
    )
    yield Parameter(
        "input[].type=tool_search_output",
        EMULATED,
        "Its tools join the request's tools; a client's search also gets a result that names them.",
        exact=True,
    )
    yield from silent(
        "input[type=tool_search_output]", EMULATED, LABEL, ("id", "status", "execution", "call_id")
    )
    yield Parameter(
        "input[type=tool_search_output].tools",
        FORWARDED,
        "By kind, as `tools`.",
        feature=Feature.TOOLS,
        without=REFUSED,
        neutral=([],),
        rule=rules.tools,
        wire="tools[].name",
        samples=([{"type": "function", "name": "f"}], [{"type": "function", "name": "g"}]),
    )


def _pointing_elsewhere() -> Iterator[Parameter]:
    yield Parameter(
        "input[].type=configuration_update",
        IGNORED,
        "Changes preferences in mid-conversation, which the upstream has no field for.",
    )
    yield from silent(
        "input[type=configuration_update]", IGNORED, "Goes with its item.", ("id", "reasoning", "text")
    )
    for kind, reason, names in (
        (
            "compaction",
            "It stands for the history that it replaced, and only who sealed it can read it.",
            ("id", "encrypted_content"),
        ),
        ("compaction_trigger", "Asks for a compaction in place of an answer.", ("id",)),
        ("program", "Programs run on the vendor's machines.", ("id", "call_id", "code", "fingerprint")),
        ("program_output", "Programs run on the vendor's machines.", ("id", "call_id", "result", "status")),
    ):
        yield Parameter(f"input[].type={kind}", REFUSED, reason)
        yield from silent(f"input[type={kind}]", REFUSED, "Goes with its item, which is refused.", names)


def input_rows(seals: Seals) -> list[Parameter]:
    """All rows of this module; ``seals`` tells our own reasoning from anyone else's."""
    return [*_messages(), *_reasoning(seals), *_bringing_tools(), *_pointing_elsewhere()]
