"""``python -m fake_upstream --host 127.0.0.1 --port 4010 --tokens a,b``"""

from __future__ import annotations

import argparse
import signal
import sys

from fake_upstream.harness import FakeUpstream


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m fake_upstream", description="A fake of the upstream.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=4010, help="0 takes a free one (default: 4010)")
    parser.add_argument("--tokens", help="the bearers it knows, comma-separated (default: any)")
    options = parser.parse_args(arguments)
    tokens = None
    if options.tokens is not None:
        tokens = [token.strip() for token in options.tokens.split(",") if token.strip()]

    stop_signals = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals)  # before there are threads, so that none gets them
    try:
        fake = FakeUpstream(tokens, host=options.host, port=options.port)
    except (OSError, OverflowError) as error:
        print(f"cannot listen on {options.host}:{options.port}: {error}", file=sys.stderr)
        return 1
    with fake:
        print(f"fake upstream listening on {fake.url}", flush=True)
        signal.sigwait(stop_signals)
    return 0


if __name__ == "__main__":
    sys.exit(main())
