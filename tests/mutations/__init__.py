"""Mutations that the suite must catch: one small change to the code, and exactly the tests that turn red by it.

``make mutate`` runs all of them, ``make mutate SPEC=seal`` those with ``seal`` in their names. Specs are the files
in ``specs/``: one family each, read by ``tests.mutations.spec``. ``python -m tests.mutations --record SPEC`` writes the
baseline and the red sets that it finds into the specs, for somebody to look at before they are committed.
"""
