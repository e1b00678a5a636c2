"""Dual numbers for Numba: a value with tangents (eight, or two), which make exact derivatives of a user's unchanged functions."""
