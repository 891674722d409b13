"""Mutations that the suite must catch: one small change to the code, and exactly the tests that turn red by it.

``make mutate`` runs all of them, ``make mutate SPEC=seal`` those with ``seal`` in their names. Specs are the files
in ``specs/``, read by ``tests.mutations.spec``; each mutation says of which family it is. ``python -m tests.mutations
--record SPEC`` writes the baseline and the red sets that it finds into the specs, for somebody to look at before they
are committed. ``make mutate ARGS=--evidence`` runs all and, if all are as expected, lists them in
``evidence/mutations.txt``.
"""
