"""What becomes of every request parameter: the one table per surface that everything else is derived from."""

from app.ledger.findings import Context, Finding, Findings, judge, render_paths
from app.ledger.ledger import Ledger, Note, Observation
from app.ledger.parameter import Disposition, Outcome, Parameter

__all__ = [
    "Context",
    "Disposition",
    "Finding",
    "Findings",
    "Ledger",
    "Note",
    "Observation",
    "Outcome",
    "Parameter",
    "judge",
    "render_paths",
]
