"""Spanning steps: one step across many crossings, for a field that is a sum over contacts."""
