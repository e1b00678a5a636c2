"""The hopper in symbols, for the tests of the SymPy bridge."""

import os

import sympy

import bouligand as bd

system = bd.bridges.sympy.system
z, v, w, g, k, rest, s, t = sympy.symbols("z v w g k rest s t")
DEFAULTS = {g: 9.81, k: 1000.0, rest: 1.0}
FOOT = {"foot": rest - z}
PUSH = k * (rest - z)
JIT = os.environ.get("NUMBA_DISABLE_JIT") != "1"


def hopper(rates=(v, -g + (1 + s) / 2 * PUSH), sides=(s,), **options):
    return system([z, v], rates, FOOT, DEFAULTS, sides=sides, **options)
