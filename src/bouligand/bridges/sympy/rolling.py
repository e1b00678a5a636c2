"""Contacts with the same law: one loop over all of them, so that a thousand take no longer to compile than ten.

Guards and contact terms are alike if they differ in nothing but parameters of their own (the places of springs, say), which stand
in params one after the other, or at equal distances.
"""

from dataclasses import dataclass

import sympy

from .lines import code, function, indented, loads, statements, zeros
from .program import Program

FEWEST = 8  # guards that are worth a loop


@dataclass
class Alike:
    """The terms of guard 0, in which ``o0, o1, ...`` stand for the guard's own parameters, and where these are."""

    f0: list
    g: list
    h: sympy.Expr
    own: list  # symbols o0, o1, ...
    places: list  # (first, stride): parameter of guard k


def find(contacts, h):
    """The Alike of a sum over contacts, or None."""
    if contacts is None or len(h) < FEWEST:
        return None
    f0, g = contacts
    terms = [[*of_guard, guard] for of_guard, guard in zip(g, h, strict=True)]
    used = [{_index(s) for e in term for s in e.free_symbols if s.name[0] == "p"} for term in terms]
    common = set.intersection(*used)
    own = [sorted(indices - common) for indices in used]
    strides = [b - a for a, b in zip(own[0], own[1], strict=False)]
    if any(mine != [a + k * d for a, d in zip(own[0], strides, strict=False)] for k, mine in enumerate(own)):
        return None
    symbols = [sympy.Symbol(f"o{j}") for j in range(len(own[0]))]
    for mine, term in zip(own, terms, strict=True):
        renaming = {sympy.Symbol(f"p{i}"): symbol for i, symbol in zip(mine, symbols, strict=True)}
        term[:] = [e.xreplace(renaming) for e in term]
        if term != terms[0]:
            return None
    return Alike(f0, terms[0][:-1], terms[0][-1], symbols, list(zip(own[0], strides, strict=True)))


def _index(symbol):
    return int(symbol.name[1:])


def functions(alike, n, m, p):
    """The text of every function of the system."""
    x, params = ([sympy.Symbol(f"{letter}{i}") for i in range(size)] for letter, size in (("x", n), ("p", p)))
    states = {j: str(j) for j in range(n)}
    columns = {j: str(j) for j in range(p)}  # of Dp: of the parameters by number, then of a guard's own
    columns |= {p + j: f"{first} + {stride} * k" for j, (first, stride) in enumerate(alike.places)}
    touching = [f"for k in range({m}):", "    if b[k] > 0.0:"]
    every = [f"for k in range({m}):"]
    several = ["for i in range(ks.size):", "    k = ks[i]"]
    moved = [i for i, e in enumerate(alike.g) if e != 0]
    field, guard = Program.of([*alike.f0, *[alike.g[i] for i in moved]]), Program.of([alike.h])
    free = {f"dx[{i}] = ": e for i, e in enumerate(field.outputs[:n])}
    contact = {f"dx[{i}] += ": e for i, e in zip(moved, field.outputs[n:], strict=True)}
    contacts = {f"out[{i}, i] = ": e for i, e in zip(moved, field.outputs[n:], strict=True)}

    def field_by(wrt, names):
        program, elements = field.derivative(wrt, range(n + len(moved)))
        fixed = {f"out[{i}, {names[j]}] = ": e for (i, j), e in elements.items() if i < n}
        looped = {f"out[{moved[i - n]}, {names[j]}] += ": e for (i, j), e in elements.items() if i >= n}
        return _loop(alike, program, fixed, looped, touching)

    def guard_by(wrt, target, head):
        program, elements = guard.derivative(wrt, [0])
        return _loop(alike, program, {}, {target(j): e for (_, j), e in elements.items()}, head)

    row_of_zeros = [f"for i in range({n}):", "    out[i] = 0.0"]
    zero_for_each = [f"for i in range({m}):", "    out[i] = 0.0"]
    texts = {
        "f(t, x, b, p, dx)": _loop(alike, field, free, contact, touching),
        "h(t, x, p, out)": _loop(alike, guard, {}, {"out[k] = ": guard.outputs[0]}, every),
        "f0(t, x, p, dx)": _loop(alike, field, free, {}, []),
        "g(t, x, k, p, dx)": _loop(alike, field, {}, contact, []),
        "g_many(t, x, ks, p, out)": _loop(alike, field, {}, contacts, several),
        "Df(t, x, b, p, out)": [*zeros(n, n), *field_by(x, states)],
        "Dh_row(t, x, k, p, out)": [*row_of_zeros, *guard_by(x, lambda j: f"out[{j}] = ", [])],
        "Dt_h(t, x, p, out)": [*zero_for_each, *guard_by([sympy.Symbol("t")], lambda _: "out[k] = ", every)],
    }
    if p:
        wrt = [*params, *alike.own]
        by_parameters = guard_by(wrt, lambda j: f"out[k, {columns[j]}] = ", every)
        texts["Dp_f(t, x, b, p, out)"] = [*zeros(n, p), *field_by(wrt, columns)]
        texts["Dp_h(t, x, p, out)"] = [*zeros(m, p), *by_parameters]
    return [function(signature, lines) for signature, lines in texts.items()]


def _loop(alike, program, fixed, looped, head):
    """Statements without a guard's own parameters, once; the others for every guard, after the lines of ``head``."""
    kept = Program(program.statements, [*fixed.values(), *looped.values()], None)
    late = set(alike.own)
    inner = []
    for symbol, e in kept.statements:
        if e.free_symbols & late:
            late.add(symbol)
            inner.append((symbol, e))
    outer = [(symbol, e) for symbol, e in kept.statements if symbol not in late]
    lines = [*loads(kept.symbols - set(alike.own)), *statements(outer)]
    lines += [f"{target}{code(e)}" for target, e in fixed.items()]
    if not looped:
        return lines
    body = [
        f"{symbol} = p[{first} + {stride} * k]"
        for symbol, (first, stride) in zip(alike.own, alike.places, strict=True)
        if symbol in kept.symbols
    ]
    body += [*statements(inner), *[f"{target}{code(e)}" for target, e in looped.items()]]
    depth = 0 if not head else 2 if head[-1].lstrip().startswith("if") else 1
    for _ in range(depth):
        body = indented(body)
    return [*lines, *head, *body]
