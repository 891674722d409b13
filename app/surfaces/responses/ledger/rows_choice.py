"""Rows of `tool_choice`: its strings, the kinds of its object form, and what allowed lists may hold.

Source: the ``openai`` package's ``ToolChoice`` types. `namespace` beside a name is accepted though undocumented.
"""

from __future__ import annotations

from app.ledger import Disposition, Parameter
from app.surfaces.responses.decode_tool_choice import HOSTED_CHOICES
from app.surfaces.responses.ledger import rules
from app.turn.features import Feature

FORWARDED, EMULATED = Disposition.FORWARDED, Disposition.EMULATED
REFUSED = Disposition.REFUSED

_CLIENT_RUN = ("shell", "local_shell", "apply_patch", "tool_search")

CHOICE_ROWS = [
    Parameter(
        "tool_choice",
        FORWARDED,
        "none and subsets withhold tools; a force is sent where the upstream carries it, else ignored.",
        feature=Feature.TOOL_CHOICE,
        neutral=("auto",),
        rule=rules.tool_choice,
        wire="tool_choice.option_name",
        samples=("required", "none"),
    ),
    Parameter(
        "tool_choice.type=function",
        FORWARDED,
        "Forces one function; decided with `tool_choice`.",
        feature=Feature.TOOL_CHOICE,
        without=EMULATED,
        silent=True,
        wire="tool_choice.tool_name",
        samples=({"type": "function", "name": "f"}, {"type": "function", "name": "g"}),
    ),
    Parameter(
        "tool_choice.type=custom",
        FORWARDED,
        "Forces one custom tool, as the function that it is wrapped in; decided with `tool_choice`.",
        feature=Feature.TOOL_CHOICE,
        without=EMULATED,
        silent=True,
        wire="tool_choice.tool_name",
    ),
    Parameter(
        "tool_choice.type=shell",
        FORWARDED,
        "Forces the client-run shell; decided with `tool_choice`.",
        feature=Feature.TOOL_CHOICE,
        without=EMULATED,
        silent=True,
        wire="tool_choice.tool_name",
    ),
    Parameter(
        "tool_choice.type=apply_patch",
        FORWARDED,
        "Forces the client-run patch tool; decided with `tool_choice`.",
        feature=Feature.TOOL_CHOICE,
        without=EMULATED,
        silent=True,
        wire="tool_choice.tool_name",
    ),
    Parameter(
        "tool_choice.type=allowed_tools",
        EMULATED,
        "Tools that are not in the list are withheld; decided with `tool_choice`.",
        silent=True,
    ),
    Parameter(
        "tool_choice[type=allowed_tools].mode",
        EMULATED,
        "auto or required; decided with `tool_choice`.",
        silent=True,
        samples=("auto", "required"),
    ),
    Parameter(
        "tool_choice[type=allowed_tools].tools",
        EMULATED,
        "Kept in order; a hosted tool that must or alone may be called cannot be.",
        silent=True,
        samples=([{"type": "function", "name": "f"}], [{"type": "function", "name": "g"}]),
    ),
    *(
        Parameter(
            f"tool_choice[type={kind}].{name}",
            FORWARDED,
            "Names the forced tool.",
            feature=Feature.TOOL_CHOICE,
            without=EMULATED,
            silent=True,
            wire="tool_choice.tool_name",
        )
        for kind in ("function", "custom")
        for name in ("name", "namespace")
    ),
    *(
        Parameter(f"tool_choice.type={kind}", REFUSED, "A hosted tool is demanded that no upstream runs.")
        for kind in HOSTED_CHOICES
    ),
    *(
        Parameter(
            f"tool_choice[type=mcp].{name}", REFUSED, "Goes with its choice, which is refused.", silent=True
        )
        for name in ("name", "server_label")
    ),
    *(
        Parameter(
            f"tool_choice[type=allowed_tools].tools[].type={kind}",
            EMULATED,
            "One allowed tool; decided with `tool_choice`.",
            silent=True,
        )
        for kind in ("function", "custom", *_CLIENT_RUN, *HOSTED_CHOICES)
    ),
    *(
        Parameter(
            f"tool_choice[type=allowed_tools].tools[].{name}",
            EMULATED,
            "Names the allowed tool.",
            silent=True,
        )
        for name in ("name", "namespace", "server_label")
    ),
]
