"""Dual numbers for Numba: a value with tangents (eight, or two), which compiles a user's unchanged functions into exact derivatives."""
