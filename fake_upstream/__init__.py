"""A fake of the upstream: a real server that captures what it is sent and answers as it is told.

``python -m fake_upstream`` runs it by itself; tests run the same code in a thread::

    with FakeUpstream() as fake:
        fake.queue([text("abc"), finish()])
        ...  # requests to fake.url
        assert fake.captures()[0]["message"]["model"] == "m"
"""

from fake_upstream.harness import FakeUpstream
from fake_upstream.steps import StepError

__all__ = ["FakeUpstream", "StepError"]
