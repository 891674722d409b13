"""What operators read about switches, written from the one table: docs/ENV-SWITCHES.md and .env.example.

``python -m app.settings_docs`` writes both.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path

from app.settings import Settings, Switch, switches

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "ENV-SWITCHES.md"
EXAMPLE = ROOT / ".env.example"

_HEADING_OR_ROW = re.compile(r"    (?:# (?P<heading>.+)|(?P<row>\w+): .+ = _switch\(.*)")
_UNCONFIRMED = "unconfirmed"

_INTRODUCTION = """\
# Environment switches

Written by `python -m app.settings_docs` from the table in `app/settings.py`; a test fails when the two differ.

Switches are read once, at start-up. An empty value is the default. A value that cannot be meant stops start-up
with a line that names the switch; a name that begins like a switch's and is none is warned about in the log
(`unknown_switches`). Switches that say on or off take exactly `1` or `0`. Values of secrets are never printed.

A switch marked *unconfirmed* stands for a coordinate of the connect upstream's wire that no source confirms: it
is off until an operator has seen it work.
"""

_EXAMPLE_INTRODUCTION = """\
# Candor's switches with their defaults; docs/ENV-SWITCHES.md tells more. Written by `python -m app.settings_docs`.
# `set -a; . ./.env; set +a` puts them into the environment.
"""


def groups() -> dict[str, list[Switch]]:
    """Heading -> its rows: the comments that stand between the rows of the table are its headings."""
    rows = dict(switches())
    grouped: dict[str, list[Switch]] = {}
    heading = ""
    for line in inspect.getsource(Settings).splitlines():
        match = _HEADING_OR_ROW.fullmatch(line)
        if match is None:
            continue
        if match["heading"]:
            heading = match["heading"]
        else:
            grouped.setdefault(heading, []).append(rows[match["row"]])
    return grouped


def page() -> str:
    """The text of docs/ENV-SWITCHES.md."""
    parts = [_INTRODUCTION]
    for heading, rows in groups().items():
        lines = [_table_line(row) for row in rows]
        parts.append(
            "\n".join([f"## {heading}\n", "| switch | default | meaning |", "|---|---|---|", *lines, ""])
        )
    return "\n".join(parts)


def _table_line(row: Switch) -> str:
    default = f"`{row.default}`" if row.default else "empty"
    remarks = [text for text, applies in ((_UNCONFIRMED, row.unconfirmed), ("secret", row.secret)) if applies]
    remark = f" *{', '.join(remarks).capitalize()}.*" if remarks else ""
    return f"| `{row.name}` | {default} | {row.meaning.replace('|', chr(92) + '|')}{remark} |"


def example() -> str:
    """The text of .env.example: every switch with its default, none in force until its `#` is removed."""
    parts = [_EXAMPLE_INTRODUCTION]
    for heading, rows in groups().items():
        parts.append(f"\n# -- {heading}\n")
        parts.extend(_example_lines(row) for row in rows)
    return "".join(parts)


def _example_lines(row: Switch) -> str:
    meaning = f"{row.meaning} Unconfirmed." if row.unconfirmed else row.meaning
    value = f"'{row.default}'" if re.search(r"[^\w.,:/=+-]", row.default) else row.default
    wrapped = textwrap.wrap(meaning, 108, break_long_words=False, break_on_hyphens=False)
    return "\n" + "".join(f"# {line}\n" for line in wrapped) + f"#{row.name}={value}\n"


def write() -> None:
    """Write both files."""
    PAGE.write_text(page())
    EXAMPLE.write_text(example())


if __name__ == "__main__":
    write()
