"""The canonical vocabulary of a turn: what a caller asks, what an upstream says, what can go wrong.

Nothing here knows a protocol, an upstream or the web; this package imports nothing else of ``app``.
"""
