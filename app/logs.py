"""Structured logs: one JSON line per event on stderr, secrets never among the fields."""

from __future__ import annotations

import logging
import sys
import time
from typing import Any

import orjson


class EventLog:
    """Writes events as JSON lines through one logger of the app."""

    def __init__(self, level: str = "INFO") -> None:
        self._logger = logging.Logger("candor", level)
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("%(message)s"))
        self._logger.addHandler(handler)

    @property
    def logger(self) -> logging.Logger:
        """The logger underneath, for tests that listen."""
        return self._logger

    def write(self, level: int, event: str, **fields: Any) -> None:
        """One line: time, level, event and ``fields`` (plain JSON values)."""
        if self._logger.isEnabledFor(level):
            line = {
                "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "level": logging.getLevelName(level),
                "event": event,
                **fields,
            }
            text = orjson.dumps(line, default=str).decode()
            # Not Logger.log: that walks the stack to find its caller, which no line shows.
            self._logger.handle(logging.LogRecord("candor", level, "", 0, text, None, None))

    def info(self, event: str, **fields: Any) -> None:
        """An event worth a line."""
        self.write(logging.INFO, event, **fields)

    def warning(self, event: str, **fields: Any) -> None:
        """An event an operator should look at."""
        self.write(logging.WARNING, event, **fields)

    def error(self, event: str, **fields: Any) -> None:
        """A defect or a failure of something Candor needs."""
        self.write(logging.ERROR, event, **fields)
