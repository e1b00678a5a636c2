"""Sliding modes: the trajectory stays on guards, towards which the flow points on both sides."""
