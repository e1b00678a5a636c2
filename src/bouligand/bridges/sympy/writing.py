"""The text of a module: in-place functions as `bouligand.System` wants them, from equations."""

from dataclasses import dataclass

import sympy

from . import rolling
from .lines import code, function, indented, loads, statements, zeros
from .program import Program

SHARED = 0.2  # part of the work of f and h that they must have in common for fh to be worth its compilation


@dataclass
class Equations:
    """In the symbols of the generated code: x0, x1, ... p0, ... b0, ... on0, ... t."""

    name: str | None
    states: list
    params: list
    guards: list
    cases: list  # (word or None, rates)
    h: list
    mass: list | None  # of the last states
    contacts: tuple | None  # f0 and the g_k
    alike: rolling.Alike | None = None

    @property
    def first(self):
        """The first state whose rate the mass matrix gives."""
        return len(self.states) - len(self.mass or ())


def module_text(eq):
    n, m, p = len(eq.states), len(eq.guards), len(eq.params)
    if eq.alike:
        return "\n\n\n".join([_header(eq), *rolling.functions(eq.alike, n, m, p)]) + "\n"
    x, params = ([sympy.Symbol(f"{letter}{i}") for i in range(size)] for letter, size in (("x", n), ("p", p)))
    guards = Program.of(eq.h)
    parts = [
        _header(eq),
        function("f(t, x, b, p, dx)", _by_word(eq, lambda rates: _field(eq, rates))),
        function("Df(t, x, b, p, out)", _by_word(eq, lambda rates: _jacobian(eq, rates, x))),
    ]
    if p:
        parts.append(function("Dp_f(t, x, b, p, out)", _by_word(eq, lambda rates: _jacobian(eq, rates, params))))
    parts.append(function("h(t, x, p, out)", _straight(guards, [f"out[{k}]" for k in range(m)])))
    if m:
        parts.append(function("Dh_row(t, x, k, p, out)", _rows(eq, x)))
        parts.append(function("Dt_h(t, x, p, out)", _guards_by_time(guards, m)))
        if p:
            parts.append(function("Dp_h(t, x, p, out)", _matrix(guards, params, m)))
        if _worth_joining(eq, guards):
            parts.append(function("fh(t, x, b, p, dx, out)", _by_word(eq, lambda rates: _field(eq, rates, eq.h))))
    if eq.contacts:
        parts += _sum(eq)
    return "\n\n\n".join(parts) + "\n"


# ------------------------------------------------------------------------------------------------ lines of functions


def _straight(program, targets):
    """A program whose first outputs go to the targets."""
    stores = [f"{target} = {code(e)}" for target, e in zip(targets, program.outputs, strict=False)]
    return [*loads(program.symbols), *statements(program.statements), *stores]


def _by_word(eq, body):
    """The body for the rates, or one for each word that has rates."""
    if eq.cases[0][0] is None:
        return body(eq.cases[0][1])
    lines = []
    for word, rates in eq.cases:
        test = " and ".join(f"b[{k}] {'>' if s > 0 else '<'} 0.0" for k, s in enumerate(word)) or "True"
        lines += [f"if {test}:", *indented([*body(rates), "return"])]
    signs = "".join(f", int(b[{k}])" for k in range(len(eq.guards)))
    return [*lines, f'raise ValueError("rates: none are given for this mode of ({", ".join(eq.guards)}):"{signs})']


def _mass_lines(mass, values):
    """Fill A with the mass matrix and factor it."""
    n = len(mass)
    stores = [f"A[{i}, {j}] = {code(values[i * n + j])}" for i in range(n) for j in range(n)]
    return [f"A = np.empty(({n}, {n}))", *stores, "rows = factor(A)"]


def _flat(mass):
    return [e for row in mass or () for e in row]


# ----------------------------------------------------------------------------------------------------------- f, h


def _field(eq, rates, h=()):
    """f, and h with it."""
    program = Program.of([*rates, *h, *_flat(eq.mass)])
    targets = [f"dx[{i}]" for i in range(len(rates))] + [f"out[{k}]" for k in range(len(h))]
    lines = _straight(program, targets)
    if eq.mass:
        lines += _mass_lines(eq.mass, program.outputs[len(targets) :])
        lines.append(f"solve(A, rows, {eq.first}, dx.reshape(dx.size, 1))")
    return lines


def _worth_joining(eq, guards):
    apart = Program.of([*eq.cases[0][1], *_flat(eq.mass)]).size + guards.size
    joined = Program.of([*eq.cases[0][1], *eq.h, *_flat(eq.mass)]).size
    return apart - joined > SHARED * apart


def _matrix(program, wrt, count):
    """The Jacobian of the first outputs."""
    derivative, elements = program.derivative(wrt, range(count))
    kept = Program(derivative.statements, elements.values(), None)
    return [*zeros(count, len(wrt)), *_straight(kept, [f"out[{i}, {j}]" for i, j in elements])]


def _jacobian(eq, rates, wrt):
    """Df or Dp_f. With a mass matrix, ``M a = r`` is differentiated as it stands: ``M da = dr - dM a``."""
    if not eq.mass:
        return _matrix(Program.of(rates), wrt, len(rates))
    n, first = len(eq.mass), eq.first
    a = [sympy.Symbol(f"a{i}") for i in range(n)]
    residuals = [
        rates[first + i] - sympy.Add(*[e * s for e, s in zip(row, a, strict=True)]) for i, row in enumerate(eq.mass)
    ]
    program = Program.of([*rates[:first], *residuals, *rates[first:], *_flat(eq.mass)])
    program, elements = program.derivative(wrt, range(first + n))
    needed = program.outputs[first + n : first + 2 * n + n * n]
    before = Program(program.statements, needed, None)
    early = {symbol for symbol, _ in before.statements}
    after = Program(program.statements, elements.values(), None)
    return [
        *zeros(first + n, len(wrt)),
        *loads(before.symbols | after.symbols),
        *statements(before.statements),
        f"r = np.empty(({n}, 1))",
        *[f"r[{i}, 0] = {code(e)}" for i, e in enumerate(before.outputs[:n])],
        *_mass_lines(eq.mass, before.outputs[n:]),
        "solve(A, rows, 0, r)",
        *[f"a{i} = r[{i}, 0]" for i in range(n)],
        *statements([(s, e) for s, e in after.statements if s not in early]),
        *[f"out[{i}, {j}] = {code(e)}" for (i, j), e in zip(elements, after.outputs, strict=True)],
        f"solve(A, rows, {first}, out)",
    ]


def _rows(eq, x):
    """Dh_row: each guard has lines of its own."""
    lines = [f"for i in range({len(x)}):", "    out[i] = 0.0"]
    for k, guard in enumerate(eq.h):
        program, elements = Program.of([guard]).derivative(x, [0])
        kept = Program(program.statements, elements.values(), None)
        lines += [f"if k == {k}:", *indented([*_straight(kept, [f"out[{j}]" for _, j in elements]), "return"])]
    return lines


def _guards_by_time(guards, m):
    program, elements = guards.derivative([sympy.Symbol("t")], range(m))
    kept = Program(program.statements, elements.values(), None)
    return [f"for i in range({m}):", "    out[i] = 0.0", *_straight(kept, [f"out[{i}]" for i, _ in elements])]


# ------------------------------------------------------------------------------------------------ sums over contacts


def _sum(eq):
    """f0, g and g_many."""
    f0, g = eq.contacts
    n, first = len(eq.mass or ()), eq.first
    of_mass = _flat(eq.mass)
    free = _field(eq, f0)
    one = [f"r = np.zeros(({first + n}, 1))"] if n else []
    for k, rates in enumerate(g):
        moved = [i for i, e in enumerate(rates) if e != 0]
        program = Program.of([*[rates[i] for i in moved], *of_mass])
        if n:
            lines = _straight(program, [f"r[{i}, 0]" for i in moved])
            lines += [*_mass_lines(eq.mass, program.outputs[len(moved) :]), f"solve(A, rows, {first}, r)"]
            lines += ["for i in range(dx.size):", "    dx[i] += r[i, 0]"]
        else:
            lines = [
                line.replace("] = ", "] += ") if line.startswith("dx[") else line
                for line in _straight(program, [f"dx[{i}]" for i in moved])
            ]
        one += [f"if k == {k}:", *indented([*lines, "return"])]
    return [
        function("f0(t, x, p, dx)", free),
        function("g(t, x, k, p, dx)", one),
        function("g_many(t, x, ks, p, out)", _many(eq, g, of_mass)),
    ]


def _many(eq, g, of_mass):
    """Several contacts: what two or more of them need is computed first, for all."""
    moved = [(k, i) for k, rates in enumerate(g) for i, e in enumerate(rates) if e != 0]
    program = Program.of([*[g[k][i] for k, i in moved], *of_mass])
    outputs = dict(zip(moved, program.outputs, strict=False))
    own = [Program(program.statements, [e for (q, _), e in outputs.items() if q == k], None) for k in range(len(g))]
    uses: dict = {}
    for part in own:
        for symbol, _ in part.statements:
            uses[symbol] = uses.get(symbol, 0) + 1
    shared = {symbol for symbol, count in uses.items() if count > 1}
    of_matrix = Program(program.statements, program.outputs[len(moved) :], None)
    shared |= {symbol for symbol, _ in of_matrix.statements}
    lines = [*loads(program.symbols), *statements([(s, e) for s, e in program.statements if s in shared])]
    lines += _mass_lines(eq.mass, of_matrix.outputs) if eq.mass else []
    lines.append("for i in range(ks.size):")
    for k, part in enumerate(own):
        body = statements([(s, e) for s, e in part.statements if s not in shared])
        body += [f"out[{i}, i] = {code(e)}" for (q, i), e in outputs.items() if q == k]
        lines += indented([f"{'if' if k == 0 else 'elif'} ks[i] == {k}:", *indented(body or ["pass"])])
    return [*lines, f"solve(A, rows, {eq.first}, out)"] if eq.mass else lines


# --------------------------------------------------------------------------------------------------------- docstring


def _header(eq):
    def listed(what, letter, names):
        return [f"{what}:", *[f"    {letter}[{i}]  {name}" for i, name in enumerate(names)], ""] if names else []

    of_words = [f"Rates for {len(eq.cases)} modes of the guards.", ""] if eq.cases[0][0] is not None else []
    lines = [
        f"{eq.name or 'A system'}, generated by bouligand.bridges.sympy.",
        "",
        *listed("States", "x", eq.states),
        *listed("Parameters", "p", eq.params),
        *listed("Guards (b is the side of each, -1.0 or +1.0)", "b", eq.guards),
        *of_words,
    ]
    text = "\n".join(lines).rstrip().replace("\\", "\\\\").replace('"""', "'''")
    imports = ["import math"]
    if eq.mass:
        imports += ["", "import numpy as np", "", "from bouligand.bridges.sympy.compiling import factor, solve"]
    return "\n".join([f'"""{text}', '"""', "", *imports])
