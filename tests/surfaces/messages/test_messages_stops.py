"""Stop sequences cost work in every delta, so a request may have so many of such a length."""

import pytest

from app.turn.faults import TurnFault
from tests.surfaces.messages.kit import body, decode, message_of


@pytest.mark.parametrize(
    ("stops", "message"),
    [
        (["a"] * 65, "stop_sequences: must have at most 64 strings, not 65"),
        (["a" * 1001], "stop_sequences.0: must have at most 1000 characters, not 1001"),
    ],
)
def test_more_than_can_be_looked_for_is_refused(stops, message):
    with pytest.raises(TurnFault) as caught:
        decode(body(stop_sequences=stops))
    assert message_of(caught.value) == message


def test_as_many_and_as_long_as_are_allowed_are_served():
    stops = ["a" * 1000] * 64
    assert decode(body(stop_sequences=stops)).turn.sampling.stop == tuple(stops)
