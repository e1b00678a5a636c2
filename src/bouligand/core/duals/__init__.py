"""Dual numbers for Numba: a value with eight tangents, which compiles a user's unchanged functions into exact derivatives."""
