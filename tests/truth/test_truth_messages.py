"""Messages: what every row of its ledger says is what happens."""

from tests.truth.suite import truth_of

test_the_row_tells_the_truth = truth_of("messages")
