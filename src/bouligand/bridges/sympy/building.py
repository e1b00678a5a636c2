"""From symbolic equations to a System: read from disk if the same equations were used before, else derived, written and kept."""

import hashlib

import sympy

from ...system.arguments import short, text
from .reading import check, gather, name_of
from .rolling import FEWEST
from .rolling import find as find_alike
from .stamp import STAMP
from .storing import SymbolicSystem, find, sealed
from .switching import MANY, Renaming, contacts
from .writing import Equations, module_text


def build(states, rates, guards, params, *, sides, t, mass, additive, compile, name, **options) -> SymbolicSystem:
    """A System of these equations; the arguments are those of `system`."""
    if not isinstance(additive, bool) and not (isinstance(additive, str) and additive == "auto"):
        raise ValueError(f"additive must be 'auto', True or False; got {short(additive)}")
    if name is not None:
        text("name", name)
    given = gather(states, rates, guards, params, sides, t, mass)
    key = _key(given, additive, name)
    source = find(key)
    if source is None:
        source = sealed(module_text(equations(given, additive, name)))
    return SymbolicSystem(
        key,
        source,
        states=[name_of(s) for s in given.states],
        guards=list(given.guards),
        params={name_of(s): float(value) for s, value in given.params.items()},
        compile=compile,
        name=name,
        **options,
    )


def _key(given, additive, name):
    """A hash of everything that the generated module depends on. Sums and products hash alike in any order of their terms."""
    labels = {symbol: role.name for symbol, role in given.roles.items()}
    memo: dict = {}

    def digest(e):
        if e not in memo:
            if e in labels:
                text = labels[e]
            elif not e.args:
                text = sympy.srepr(e)
            else:
                parts = [digest(a) for a in e.args]
                text = f"{type(e).__name__}({', '.join(sorted(parts) if e.is_Add or e.is_Mul else parts)})"
            memo[e] = hashlib.sha256(text.encode()).hexdigest()[:32]
        return memo[e]

    whole = [STAMP, sympy.__version__, str(additive), str(name)]
    whole += [name_of(s) for s in (*given.states, *given.params, *given.guards)]
    whole += [str([word for word, _ in given.cases]), str(len(given.mass or ()))]
    whole += [f"{where}: {digest(e)}" for where, e in given.expressions()]
    return hashlib.sha256("\n".join(whole).encode()).hexdigest()[:32]


def equations(given, additive, name):
    """The symbolic work before any code: everything checked, renamed, and sums over contacts found."""
    renamed = Renaming(given)
    derivatives = _replace_derivatives(given, renamed)
    check(given, derivatives)
    cases = [(word, [renamed(r) for r in rates]) for word, rates in given.cases]
    mass = None if given.mass is None else [[renamed(e) for e in row] for row in given.mass]
    h = [renamed(e) for e in given.guards.values()]
    if mass is not None:
        cases, mass = _without_small_blocks(cases, mass)
    parts, alike = _contacts(cases, mass, h, additive)
    states, params, guards = ([name_of(s) for s in what] for what in (given.states, given.params, given.guards))
    return Equations(name, states, params, guards, cases, h, mass, parts, alike)


def _contacts(cases, mass, h, additive):
    """The rates as a sum over contacts, where that is wanted and worth it, and whether these are all alike."""
    m = len(h)
    if additive is False or (additive == "auto" and m < FEWEST):
        return None, None
    parts = contacts(cases[0][1], mass, m) if cases[0][0] is None else None
    if parts is None and additive is True:
        raise ValueError(
            "additive=True, but the rates are not a sum over contacts: sides are multiplied with each other"
        )
    alike = find_alike(parts, h) if mass is None else None
    worth = alike is not None or additive is True or m >= MANY
    return (parts, alike) if worth else (None, None)


def _replace_derivatives(given, renamed):
    """Time derivatives of states, wherever these do not depend on sides, are replaced by the rates."""
    found = set()
    explicit = len(given.states) - len(given.mass or ())
    if len(given.cases) == 1 and given.t is not None:
        for state, rate in list(zip(given.states, given.cases[0][1], strict=True))[:explicit]:
            derivative = state.diff(given.t)
            free = not rate.free_symbols & set(given.sides) and not rate.has(sympy.Piecewise)
            if isinstance(derivative, sympy.Derivative) and free and not rate.has(sympy.Derivative):
                found.add(derivative)
                renamed.learn(derivative, renamed(rate))
    return found


def _without_small_blocks(cases, mass):
    """Where the mass matrix consists of blocks of one or two, they are inverted symbolically, and no matrix is left."""
    n = len(mass)
    blocks: list = []
    for i in range(n):
        joined = {i} | {j for j in range(n) if mass[i][j] != 0 or mass[j][i] != 0}
        apart = [b for b in blocks if not b & joined]
        blocks = [*apart, joined.union(*[b for b in blocks if b & joined])]
    if max(map(len, blocks)) > 2:
        return cases, mass
    solved = []
    for word, rates in cases:
        first = len(rates) - n
        rates = list(rates)
        for block in blocks:
            i, j = min(block), max(block)
            r, q = rates[first + i], rates[first + j]
            if i == j:
                rates[first + i] = r / mass[i][i]
            else:
                determinant = mass[i][i] * mass[j][j] - mass[i][j] * mass[j][i]
                rates[first + i] = (mass[j][j] * r - mass[i][j] * q) / determinant
                rates[first + j] = (mass[i][i] * q - mass[j][i] * r) / determinant
        solved.append((word, rates))
    return solved, None
