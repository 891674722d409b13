"""All rows of all surfaces, as an app has them."""

from __future__ import annotations

import tempfile

from app import create_app
from app.factory import of
from app.ledger import Parameter
from app.settings import load
from app.surfaces.surface import Surface
from tests.truth.stage import SEAL_KEY


def surfaces() -> list[Surface]:
    """The four, as an app with default switches has them."""
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(load({"CANDOR_STATE_DIR": folder, "CANDOR_SEAL_KEY": SEAL_KEY}))
        return list(of(app).surfaces.values())


def every_row() -> list[tuple[str, Parameter]]:
    """(surface, row) in the order of the ledgers."""
    return [(surface.name, row) for surface in surfaces() for row in surface.ledger.rows.values()]


def rows_of(surface: str) -> list[Parameter]:
    """The rows of one surface."""
    return [row for name, row in every_row() if name == surface]
