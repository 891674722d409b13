"""The bench: what Candor costs beside the same load straight on a canned upstream. ``make bench`` runs it."""
