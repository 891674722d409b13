"""The API surfaces: one folder each, one Flask blueprint each. A surface never imports another."""
