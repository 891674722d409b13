"""docs/PARAMETERS.md, written from the ledgers: ``python -m app.operator.parameters_docs``."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import orjson

from app.factory import create_app, of
from app.operator.parameters import TITLES, Entry, entries
from app.settings import load

PAGE = Path(__file__).resolve().parents[2] / "docs" / "PARAMETERS.md"

_INTRODUCTION = """\
# What becomes of every request parameter

Written by `python -m app.operator.parameters_docs` from the ledgers in `app/surfaces/*/ledger`; a test fails when
they differ. `GET /parameters` shows the same as a page with a search, and to operators how often each was met.
`evidence/PARAMETERS.md` has for each row a request that was sent, what came back, and the captured field.

- **forwarded**: it reaches the upstream, in the field of its message that is named.
- **emulated**: Candor gives the effect itself; the reply says so in `x-candor-emulated`, unless it is *exact*.
- **ignored**: the request is served without it; `x-candor-ignored` names it, it is counted, and warned of once.
- **refused**: a 400 in the surface's own words that names it; nothing reaches the upstream.

The tables hold for the connect upstream with its switches off. *With* or *without* a feature names what becomes
of a parameter on an upstream that differs in it. *By value*: some values have another fate, as the reason says.
*Detail*: decided together with the object that holds it. Free values ask for nothing and are served everywhere.
A field that no row names is served, ignored and named; an unknown kind of role, part, block, item or tool is a 400.
"""


def shown() -> list[Entry]:
    """All rows as an app with default switches has them."""
    with tempfile.TemporaryDirectory() as folder:
        candor = of(create_app(load({"CANDOR_STATE_DIR": folder, "CANDOR_SEAL_KEY": "documentation"})))
        ledgers = [surface.ledger for surface in candor.surfaces.values()]
        return entries(ledgers, candor.services.upstreams["connect"].features)


def page() -> str:
    """The text of docs/PARAMETERS.md."""
    rows = shown()
    parts = [_INTRODUCTION, _counts(rows)]
    for surface, title in TITLES.items():
        lines = [_line(row) for row in rows if row.surface == surface]
        table = "\n".join(["| parameter | becomes | wire field | why |", "|---|---|---|---|", *lines])
        parts.append(f"## {title}\n\n{table}\n")
    return "\n".join(parts)


def _counts(rows: list[Entry]) -> str:
    fates = ("forwarded", "emulated", "ignored", "refused")
    lines = [f"| surface | rows | {' | '.join(fates)} |", "|---|---|---|---|---|---|"]
    for surface, title in TITLES.items():
        counted = Counter(row.disposition for row in rows if row.surface == surface)
        numbers = " | ".join(str(counted[fate]) for fate in fates)
        lines.append(f"| {title} | {counted.total()} | {numbers} |")
    return "\n".join(lines) + "\n"


def _line(row: Entry) -> str:
    becomes = [f"**{row.disposition}**"]
    becomes += [
        word
        for word, holds in (("exact", row.exact), ("by value", row.by_value), ("detail", row.detail))
        if holds
    ]
    if row.elsewhere is not None:
        becomes.append(f"{'without' if row.carried else 'with'} `{row.feature}`: {row.elsewhere}")
    why = _cell(row.reason)
    if row.neutral:
        why += f" Free: {', '.join(f'`{_json(value)}`' for value in row.neutral)}."
    wire = f"`{row.wire}`" if row.wire else ""
    return f"| `{row.path}` | {', '.join(becomes)} | {wire} | {why} |"


def _cell(reason: str) -> str:
    text = reason.replace("|", "\\|")
    return text if text.endswith(".") else f"{text}."


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


if __name__ == "__main__":
    PAGE.write_text(page())
