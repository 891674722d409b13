"""Rows of ``tools[]``: every kind and its fields. Items that bring tools (``additional_tools``) share them.

Source: the ``openai`` package's ``ToolParam``. Codex CLI also sends ``search_content_types`` with ``web_search``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from app.ledger import Disposition, Parameter
from app.surfaces.responses.ledger import rules
from app.surfaces.responses.tools import REFUSED_KINDS, WITHHELD_KINDS
from app.turn.features import Feature

FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
IGNORED, REFUSED = Disposition.IGNORED, Disposition.REFUSED

_SCHEMAS = (
    {"type": "object", "properties": {"x": {"type": "string"}}},
    {"type": "object", "properties": {"y": {"type": "string"}}},
)


def _silent(prefix: str, disposition: Disposition, reason: str, names: Iterable[str]) -> Iterator[Parameter]:
    for name in names:
        yield Parameter(f"{prefix}.{name}", disposition, reason, silent=True)


def _options(prefix: str) -> Iterator[Parameter]:
    """Fields that functions and custom tools share and that no upstream has."""
    yield Parameter(
        f"{prefix}.defer_loading",
        IGNORED,
        "Every tool is loaded from the start.",
        neutral=(False,),
        samples=(True, False),
    )
    yield Parameter(
        f"{prefix}.async",
        IGNORED,
        "A call is answered before the model goes on.",
        neutral=(False,),
        samples=(True, False),
    )
    yield Parameter(
        f"{prefix}.allowed_callers",
        IGNORED,
        "The model is the only caller there is.",
        neutral=(["direct"], []),
        samples=(["programmatic"], ["direct"]),
    )


def _function(place: str) -> Iterator[Parameter]:
    """Rows of function tools at ``place`` (``tools[]``, or inside a namespace)."""
    yield Parameter(f"{place}.type=function", FORWARDED, "Offered as it is.", wire="tools[].name")
    fields = f"{place[:-2]}[type=function]"
    yield Parameter(f"{fields}.name", FORWARDED, "Sent as it is.", wire="tools[].name", samples=("f", "g"))
    yield Parameter(
        f"{fields}.description", FORWARDED, "Sent as it is.", wire="tools[].description", samples=("a", "b")
    )
    yield Parameter(
        f"{fields}.parameters",
        FORWARDED,
        "Sent as it is; an absent or empty schema becomes an empty object's.",
        wire="tools[].parameters",
        samples=_SCHEMAS,
    )
    yield Parameter(
        f"{fields}.strict",
        FORWARDED,
        "Sent where the upstream has the flag.",
        feature=Feature.STRICT_TOOLS,
        neutral=(False,),
        wire="tools[].strict",
        samples=(True, False),
    )
    yield Parameter(
        f"{fields}.output_schema", IGNORED, "No upstream is told what a tool returns.", samples=_SCHEMAS
    )
    yield from _options(fields)


def _custom(place: str) -> Iterator[Parameter]:
    """Rows of custom tools at ``place``."""
    yield Parameter(
        f"{place}.type=custom",
        EMULATED,
        "Wrapped as a function with one string argument; its calls go out as custom_tool_call items.",
    )
    fields = f"{place[:-2]}[type=custom]"
    yield from _silent(fields, EMULATED, "Of the function that wraps it.", ("name", "description"))
    yield Parameter(
        f"{fields}.format",
        IGNORED,
        "A grammar is described to the model and not enforced; plain text asks for nothing.",
        rule=rules.custom_format,
        samples=(
            {"type": "grammar", "syntax": "lark", "definition": "start: /.+/s"},
            {"type": "grammar", "syntax": "regex", "definition": ".+"},
        ),
    )
    yield Parameter(f"{fields}.format.type=text", FORWARDED, "The default: asks for nothing.", silent=True)
    yield Parameter(f"{fields}.format.type=grammar", IGNORED, "Decided with `format`.", silent=True)
    yield from _silent(
        f"{fields}.format[type=grammar]",
        IGNORED,
        "Decided with `format`.",
        ("syntax", "definition"),
    )
    yield from _options(fields)


def _client_run() -> Iterator[Parameter]:
    yield Parameter(
        "tools[].type=tool_search",
        EMULATED,
        "With client execution a function by its own schema; the service's own search finds every tool loaded.",
        exact=True,
        rule=rules.tool_search,
    )
    yield from _silent(
        "tools[type=tool_search]",
        EMULATED,
        "Goes with its tool.",
        ("execution", "description", "parameters"),
    )
    for kind, what in (
        ("local_shell", "one command"),
        ("shell", "shell commands"),
        ("apply_patch", "one file's patch"),
    ):
        yield Parameter(
            f"tools[].type={kind}",
            EMULATED,
            f"Run by the client: a function with a fixed schema for {what}; calls go out as {kind}_call items.",
            exact=True,
        )
    for kind in ("shell", "apply_patch"):
        yield Parameter(
            f"tools[type={kind}].allowed_callers",
            IGNORED,
            "The model is the only caller there is.",
            neutral=(["direct"], []),
            samples=(["programmatic"], ["direct"]),
        )
    place = "tools[type=shell].environment"
    yield Parameter(place, EMULATED, "By kind.", silent=True)
    yield Parameter(f"{place}.type=local", EMULATED, "The client's own machine.", silent=True)
    yield Parameter(
        f"{place}[type=local].skills",
        IGNORED,
        "The model is not told of the skills.",
        neutral=([],),
        samples=([{"name": "s", "description": "d", "path": "/s"}],),
    )
    for kind, names in (
        ("container_auto", ("file_ids", "memory_limit", "network_policy", "skills")),
        ("container_reference", ("container_id",)),
    ):
        yield Parameter(f"{place}.type={kind}", REFUSED, "A container of the vendor's; no upstream has one.")
        yield from _silent(
            f"{place}[type={kind}]", REFUSED, "Goes with its environment, which is refused.", names
        )


_SEARCH_FIELDS = (
    "external_web_access",
    "filters",
    "search_context_size",
    "user_location",
    "search_content_types",
)
_WITHHELD_FIELDS = {
    "web_search": _SEARCH_FIELDS,
    "web_search_2025_08_26": _SEARCH_FIELDS,
    "web_search_preview": ("search_content_types", "search_context_size", "user_location"),
    "web_search_preview_2025_03_11": ("search_content_types", "search_context_size", "user_location"),
    "image_generation": (
        "action",
        "background",
        "complexity",
        "frame_count",
        "frame_duration_ms",
        "input_fidelity",
        "input_image_mask",
        "model",
        "moderation",
        "output_compression",
        "output_format",
        "partial_images",
        "quality",
        "size",
        "svg",
    ),
}

_REFUSED_FIELDS = {
    "file_search": ("filters", "max_num_results", "ranking_options", "vector_store_ids"),
    "code_interpreter": ("allowed_callers", "container"),
    "mcp": (
        "allowed_callers",
        "allowed_tools",
        "authorization",
        "connector_id",
        "defer_loading",
        "headers",
        "require_approval",
        "server_description",
        "server_label",
        "server_url",
        "tunnel_id",
    ),
    "computer": (),
    "computer_use_preview": ("display_height", "display_width", "environment"),
    "programmatic_tool_calling": (),
}


def _hosted() -> Iterator[Parameter]:
    for kind in WITHHELD_KINDS:
        yield Parameter(
            f"tools[].type={kind}",
            IGNORED,
            "Hosted; left out while other tools make do, refused when it is forced or alone.",
            rule=rules.withheld,
        )
        yield from _silent(f"tools[type={kind}]", IGNORED, "Goes with its tool.", _WITHHELD_FIELDS[kind])
    for kind in REFUSED_KINDS:
        yield Parameter(f"tools[].type={kind}", REFUSED, "Hosted; no upstream runs it.")
        yield from _silent(
            f"tools[type={kind}]", REFUSED, "Goes with its tool, which is refused.", _REFUSED_FIELDS[kind]
        )


TOOL_ROWS = [
    Parameter(
        "tools",
        FORWARDED,
        "By kind; needs an upstream that has tools, and on some a neutral system line is supplied.",
        feature=Feature.TOOLS,
        without=REFUSED,
        neutral=([],),
        rule=rules.tools,
        wire="tools[].name",
        samples=([{"type": "function", "name": "f"}], [{"type": "function", "name": "g"}]),
    ),
    *_function("tools[]"),
    *_custom("tools[]"),
    Parameter(
        "tools[].type=namespace",
        EMULATED,
        "Flattened to namespace__name, and split again in calls.",
        exact=True,
    ),
    Parameter(
        "tools[type=namespace].name", EMULATED, "Part of every flat name.", silent=True, samples=("a", "b")
    ),
    Parameter(
        "tools[type=namespace].description",
        IGNORED,
        "An upstream knows single tools only, and their descriptions are passed as they are.",
        neutral=("",),
        samples=("a", "b"),
    ),
    Parameter("tools[type=namespace].tools", EMULATED, "By kind.", silent=True),
    *_function("tools[type=namespace].tools[]"),
    *_custom("tools[type=namespace].tools[]"),
    *_client_run(),
    *_hosted(),
]
