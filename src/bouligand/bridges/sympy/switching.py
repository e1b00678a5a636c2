"""How rates depend on the sides of the guards: conditions recognised, and sums over contacts found.

In the generated code ``b3`` is the side of guard 3, and ``on3`` whether it is positive.
"""

from itertools import product

import sympy
from sympy.core.relational import GreaterThan, LessThan, Relational, StrictGreaterThan, StrictLessThan

MANY = 50  # guards from which on a sum over contacts is worth declaring


def on(k):
    return sympy.Symbol(f"on{k}")


class Renaming:
    """From the user's symbols to those of the generated code, and from signs of guards to their sides."""

    def __init__(self, given):
        self._given = given
        self._memo = dict(given.roles)

    def learn(self, expression, value):
        self._memo[expression] = value

    def __call__(self, e):
        """The expression renamed. Every different part is visited once, however often it occurs."""
        if e not in self._memo:
            if isinstance(e, Relational):
                self._memo[e] = self._condition(e)
            elif not e.args:
                self._memo[e] = e
            elif isinstance(e, sympy.Piecewise):
                self._memo[e] = self._choice(e)
            else:
                self._memo[e] = e.func(*[self(a) for a in e.args])
        return self._memo[e]

    def _condition(self, relation):
        if not isinstance(relation, StrictGreaterThan | GreaterThan | StrictLessThan | LessThan):
            raise ValueError(f"the condition {relation} of a Piecewise is not of the kind 'guard > 0'")
        positive = relation.gts - relation.lts
        whole = [*self._given.guards.values(), *self._given.sides]
        for k, what in enumerate(whole):
            sign = _same_sign(positive, what)
            if sign:
                k = k % len(self._given.guards)
                return on(k) if sign > 0 else sympy.Not(on(k))
        raise ValueError(
            f"the condition {relation} of a Piecewise is no guard (nor a multiple of one); guards: "
            + (", ".join(f"{name}: {guard}" for name, guard in self._given.guards.items()) or "none")
            + f". Add it: guards={{..., 'name': {positive}}}"
        )

    def _choice(self, choice):
        branches = [(self(value), sympy.to_nnf(self(condition), False)) for value, condition in choice.args]
        conditions = [condition for _, condition in branches]
        sides = sorted(set().union(*[c.free_symbols for c in conditions]), key=str)
        for values in product((True, False), repeat=len(sides)):
            word = dict(zip(sides, values, strict=True))
            if not any(c.subs(word) == sympy.true for c in conditions):
                names = list(self._given.guards)
                where = ", ".join(f"{names[int(s.name[2:])]} {'> 0' if v else '< 0'}" for s, v in word.items())
                raise ValueError(f"{choice} has no value where {where}; end it with (..., True)")
        branches[-1] = (branches[-1][0], sympy.true)
        return sympy.Piecewise(*branches, evaluate=len(branches) < 2)


def _same_sign(one, other):
    """+1 or -1 if the one is a positive or negative multiple of the other, 0 if that cannot be shown."""
    if one == other:
        return 1
    if one == -other:
        return -1
    if one.free_symbols != other.free_symbols:  # a factor with symbols of its own could be anything
        extra = one.free_symbols ^ other.free_symbols
        if not all(s.is_positive for s in extra):
            return 0
    ratio = sympy.cancel(sympy.together(sympy.expand(one) / sympy.expand(other)))
    if ratio.is_number or ratio.is_positive or ratio.is_negative:
        return 1 if ratio.is_positive else -1 if ratio.is_negative else 0
    return 0


def contacts(rates, mass, m):
    """The rates as f0 and a list of g_k, such that f = f0 + the sum of g_k over guards with b_k > 0, or None.

    With a mass matrix, these are right-hand sides.
    """
    touch = [sympy.Symbol(f"T{k}") for k in range(m)]  # 1 while guard k is positive, else 0
    every = set(touch)
    memo = {sympy.Symbol(f"b{k}"): 2 * T - 1 for k, T in enumerate(touch)}
    of_on = {on(k): T for k, T in enumerate(touch)}
    try:
        rates = [_as_polynomial(e, memo, of_on) for e in rates]
        if mass is not None and any(_as_polynomial(e, memo, of_on).free_symbols & every for row in mass for e in row):
            return None
    except _NotASumError:
        return None
    index = {T: k for k, T in enumerate(touch)}
    try:
        split = [_split(e, index) for e in rates]
    except _NotASumError:
        return None
    return [without for without, _ in split], [[parts.get(k, sympy.S.Zero) for _, parts in split] for k in range(m)]


def _split(e, index):
    """The value of an expression with all sides 0, and a mapping from k to what side k adds; each part is visited once."""
    if not e.free_symbols & index.keys():
        return e, {}
    if e in index:
        return sympy.S.Zero, {index[e]: sympy.S.One}
    if e.is_Add:
        split = [_split(term, index) for term in e.args]
        parts: dict = {}
        for _, of_term in split:
            for k, part in of_term.items():
                parts.setdefault(k, []).append(part)
        return sympy.Add(*[without for without, _ in split]), {k: sympy.Add(*some) for k, some in parts.items()}
    if e.is_Mul:
        factor, rest = e.as_independent(*index)
        if not rest.is_Mul:
            without, of_rest = _split(rest, index)
            return factor * without, {k: factor * part for k, part in of_rest.items()}
        return _product(factor, [_split(a, index) for a in rest.args])
    raise _NotASumError


def _product(factor, split):
    """A product is a sum over contacts where all its factors depend on the same single side: such as T (a + T b) = T (a + b)."""
    sides = set().union(*[parts for _, parts in split])
    if len(sides) != 1:
        raise _NotASumError
    (k,) = sides
    off = factor * sympy.Mul(*[without for without, _ in split])
    return off, {k: factor * sympy.Mul(*[without + parts[k] for without, parts in split]) - off}


class _NotASumError(Exception):
    pass


def _as_polynomial(e, memo, of_on):
    """Sides as numbers 0 and 1, choices as products with them."""
    if e not in memo:
        if not e.args:
            memo[e] = e
        elif isinstance(e, sympy.Piecewise):
            (one, condition), *rest = e.args
            if len(rest) != 1 or (sympy.Not(condition) not in of_on and condition not in of_on):
                raise _NotASumError
            one, other = (_as_polynomial(value, memo, of_on) for value in (one, rest[0][0]))
            if condition in of_on:
                memo[e] = other + of_on[condition] * (one - other)
            else:
                memo[e] = one + of_on[sympy.Not(condition)] * (other - one)
        elif e.is_Pow and e.base.is_Symbol and e.base in memo and e.base.name[0] == "b" and e.exp.is_Integer:
            memo[e] = memo[e.base] if e.exp % 2 else sympy.S.One
        else:
            memo[e] = e.func(*[_as_polynomial(a, memo, of_on) for a in e.args])
    return memo[e]
