"""Every ledger row on the wire: the request that was sent, what came back, and the captured field.

``make evidence`` (or ``.venv/bin/python -m evidence.parameters``) asks the app in this process, over a fake
upstream that is a real server, and writes ``evidence/PARAMETERS.md``.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.ledger import Parameter
from app.operator.parameters import TITLES, entry
from app.upstreams.connect.upstream import CONFIRMED
from evidence.probe import heading
from tests.support.servers import ROOT
from tests.truth.cases import case_for, samples_of
from tests.truth.effects import EFFECTS
from tests.truth.stage import SURFACES, Answer, Stage, request_of, stage
from tests.truth.wire import at

TITLE = "# Every ledger row, on the wire"
PAGE = ROOT / "evidence" / "PARAMETERS.md"
LONGEST = 240

_INTRODUCTION = """\
Written by `make evidence`. For every row of every ledger: the body that was sent, what came back, and what the
upstream, a real server that parsed the request's bytes, found in the field that the row names. *On* means that the
switches `DEVIN_CONNECT_TOOL_CHOICE`, `DEVIN_CONNECT_REASONING` and `DEVIN_CONNECT_PROMPT_CACHE` were on and
`CANDOR_SESSION_FROM` was `caller`; it is shown where the answer differs. Values longer than 240 characters are cut
at `…`.
"""


def main() -> None:
    """Ask for every row and write the page."""
    title, context, _ = heading(TITLE)
    PAGE.write_text(f"{title}\n\n{context}\n\n{observed()}")


def observed() -> str:
    """The page below its heading, as every row's request is answered now."""
    parts = [_INTRODUCTION]
    with tempfile.TemporaryDirectory() as folder, stage(Path(folder)) as world:
        for surface in SURFACES:
            rows = world.ledger(surface).rows.values()
            parts.append(f"## {TITLES[surface]}: {len(rows)} rows\n")
            parts.extend("\n".join(_section(world, surface, row)) + "\n" for row in rows)
            print(f"{surface}: {len(rows)} rows")
    return "\n".join(parts)


def recorded() -> str:
    """The committed page below its heading."""
    return PAGE.read_text().split("\n\n", 2)[2]


def _section(world: Stage, surface: str, row: Parameter) -> Iterator[str]:
    shown = entry(surface, row, CONFIRMED)
    field = f", field `{row.wire}`" if row.wire else ""
    yield f"### `{row.path}`: {shown.disposition}{field}\n"
    effect = EFFECTS.get((surface, row.path))
    if effect is not None and effect.__doc__:
        yield f"Its effect, which its truth test has seen: {' '.join(effect.__doc__.split())}\n"
    for sample in samples_of(row):
        case = case_for(surface, row, sample)
        path, body = request_of(surface, case, stream=False)
        plain = world.ask(surface, case)
        yield f"- `POST {path}` `{_short(body)}`"
        yield f"  - {_came_back(row, plain)}"
        switched = _came_back(row, world.ask(surface, case, house="switched on"))
        if switched != _came_back(row, plain):
            yield f"  - on: {switched}"


def _came_back(row: Parameter, answer: Answer) -> str:
    if answer.status != 200:
        return f"**{answer.status}** `{_short(answer.body['error'])}`; turns: {len(answer.captures)}"
    parts = [f"**{answer.status}**"]
    for name in ("x-candor-ignored", "x-candor-emulated"):
        if name in answer.headers:
            parts.append(f"`{name}: {answer.headers[name]}`")
    if row.wire is not None:
        parts.append(f"captured `{_short(at(answer.wire, row.wire))}`")
    else:
        parts.append(f"turns: {len(answer.captures)}")
    return "; ".join(parts)


def _short(value: Any) -> str:
    """``value`` as JSON in one line of bounded length; ids that differ from run to run are left out."""
    if isinstance(value, dict):
        value = {key: member for key, member in value.items() if key != "request_id"}
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("`", "'")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


if __name__ == "__main__":
    main()
