"""Stiff steps: linearly implicit ones, which fast decaying modes do not limit."""
