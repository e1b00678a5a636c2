"""The user's input, normalised and checked: symbols with their roles, and expressions for which code can be generated."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import sympy
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean, BooleanAtom

from ...system.arguments import number, short
from ...system.words import listed

# what has a counterpart in compiled code, and whose derivatives have one
_TRIGONOMETRIC = ("sin", "cos", "tan", "sec", "csc", "cot", "asin", "acos", "atan", "atan2")
FUNCTIONS = (*_TRIGONOMETRIC, "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "exp", "log", "erf", "erfc")
NOT_SMOOTH = ("Abs", "sign", "Max", "Min", "floor", "ceiling", "frac", "Mod", "Heaviside", "DiracDelta")


@dataclass
class Given:
    """Symbols and expressions as they came, in lists."""

    states: list
    params: dict  # symbol: default
    guards: dict  # name: expression
    sides: list  # a symbol for each guard, or none at all
    t: sympy.Symbol | None
    cases: list  # (word or None, rates)
    mass: list | None  # rows

    @property
    def roles(self):
        """Symbol: what it is called in the generated code."""
        roles = {s: sympy.Symbol(f"x{i}") for i, s in enumerate(self.states)}
        roles |= {s: sympy.Symbol(f"p{i}") for i, s in enumerate(self.params)}
        roles |= {s: sympy.Symbol(f"b{i}") for i, s in enumerate(self.sides)}
        return roles if self.t is None else {**roles, self.t: sympy.Symbol("t")}

    def expressions(self):
        """All of them, each with what to call it in a message."""
        for word, rates in self.cases:
            under = "" if word is None else f" in the mode {word}"
            for state, rate in zip(self.states, rates, strict=True):
                yield f"the rate of {name_of(state)}{under}", rate
        for name, guard in self.guards.items():
            yield f"guard {name!r}", guard
        for row in self.mass or ():
            for element in row:
                yield "mass", element


def name_of(symbol):
    """What a symbol is called; also a guard, whose name is its own."""
    return symbol.func.__name__ if isinstance(symbol, AppliedUndef) else getattr(symbol, "name", str(symbol))


def gather(states, rates, guards, params, sides, t, mass):
    """A Given; wrong kinds, lengths and doubles are refused here, what is inside the expressions by `check`."""
    states = _symbols("states", states)
    if not states:
        raise ValueError("states is empty; give a symbol for each state")
    guards = _guards(guards)
    if params is not None and not isinstance(params, Mapping):
        raise TypeError(f"params must be a mapping from Symbol to default; got {short(params)}")
    params = dict(zip(_symbols("params", params or {}), (params or {}).values(), strict=True))
    for symbol, value in params.items():
        if not isinstance(value, sympy.Number | sympy.NumberSymbol) or not value.is_finite:
            number(f"params: the default of {symbol}", value)
    sides = _sides(sides, guards)
    if t is None:
        t = None if any(name_of(s) == "t" for s in (*states, *params, *sides)) else sympy.Symbol("t")
    elif not isinstance(t, sympy.Symbol):
        raise TypeError(f"t must be the Symbol of time; got {t!r}")
    everything = [*states, *params, *sides, *([] if t is None else [t])]
    names = [name_of(s) for s in everything]
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise ValueError(f"{', '.join(doubles)}: more than one of the states, params, sides and t is called so")
    mass = _mass(mass, len(states))
    given = Given(states, params, guards, sides, t, _cases(rates, states, len(guards)), mass)
    return given


def _symbols(what, values):
    if isinstance(values, sympy.Basic) and not isinstance(values, sympy.Tuple):
        values = [values]
    values = list(values) if isinstance(values, Mapping) and what == "params" else _listed(what, values, "Symbols")
    for value in values:
        if not isinstance(value, sympy.Symbol | AppliedUndef):
            raise TypeError(f"{what} must be Symbols or dynamicsymbols; got {short(value)} ({type(value).__name__})")
        if not value.is_commutative or value.is_real is False:
            raise ValueError(f"{what}: {value} is declared as not real or not commutative")
    return values


def _listed(what, values, kinds):
    """The elements of a sequence; a set has no order, and masked values are none."""
    if isinstance(values, str | set | frozenset) or (isinstance(values, np.ndarray) and np.ma.is_masked(values)):
        raise TypeError(f"{what} must be a sequence of {kinds}; got {short(values)}")
    return listed(what, values, f"a sequence of {kinds}")


def _expression(what, value):
    try:
        value = sympy.sympify(value, strict=True)  # strict: text is not evaluated
    except Exception:  # (objects of other libraries fail in ways of their own)
        raise TypeError(f"{what} must be an expression of SymPy; got {short(value)}") from None
    if not isinstance(value, sympy.Expr) or value.is_Matrix:
        raise TypeError(f"{what} must be a scalar expression; got {short(value)}")
    return value


def _guards(guards):
    if guards is None:
        return {}
    if isinstance(guards, sympy.Expr | str):
        raise TypeError(f"guards must be a mapping from name to expression, or a sequence; got {short(guards)}")
    if not isinstance(guards, Mapping):
        guards = {f"h{k}": guard for k, guard in enumerate(_listed("guards", guards, "expressions"))}
    unnamed = [name for name in guards if not isinstance(name, str | sympy.Symbol)]
    if unnamed:
        raise TypeError(f"guards must have names (str); got {short(unnamed[0])} for one")
    return {str(name): _expression(f"guards: guard {str(name)!r}", guard) for name, guard in guards.items()}


def _sides(sides, guards):
    if sides is None:
        return []
    if isinstance(sides, Mapping):
        unknown = [str(name) for name in sides if str(name) not in guards]
        missing = [name for name in guards if name not in {str(key) for key in sides}]
        if unknown or missing:
            raise ValueError(f"sides must have a symbol for each guard, {list(guards)}; got {list(map(str, sides))}")
        named = {str(key): symbol for key, symbol in sides.items()}
        sides = [named[name] for name in guards]
    sides = _symbols("sides", sides)
    if len(sides) != len(guards):
        raise ValueError(f"sides must have a symbol for each of the {len(guards)} guards; got {len(sides)}")
    return sides


def _mass(mass, count):
    if mass is None:
        return None
    try:
        matrix = sympy.Matrix(mass).tolist()
    except Exception:  # (whatever SymPy makes of what is none)
        raise TypeError(f"mass must be a matrix of expressions; got {short(mass)}") from None
    rows = [[_expression("mass", e) for e in row] for row in matrix]
    if not 0 < len(rows) == len(rows[0]) <= count:
        raise ValueError(
            f"mass must be square, with a row for each of the last states (at most {count}); got {len(rows)} rows"
        )
    return rows


def _cases(rates, states, m):
    if isinstance(rates, Mapping) and rates and all(isinstance(key, tuple | int) for key in rates):
        cases = []
        for word, of_word in rates.items():
            signs = word if isinstance(word, tuple) else (word,)
            if len(signs) != m or any(s not in (-1, 1) for s in signs):
                raise ValueError(f"rates: {word!r} is not a mode, a tuple of {m} signs -1 or +1, one for each guard")
            cases.append((tuple(int(s) for s in signs), _rates(of_word, states)))
        return cases
    return [(None, _rates(rates, states))]


def _rates(rates, states):
    if isinstance(rates, Mapping):
        missing = [name_of(s) for s in states if s not in rates]
        unknown = [str(key) for key in rates if key not in states]
        if missing or unknown:
            raise ValueError(
                "rates: "
                + "; ".join(
                    [f"no rate for {', '.join(missing)}"] * bool(missing)
                    + [f"no state {', '.join(unknown)}"] * bool(unknown)
                )
            )
        rates = [rates[s] for s in states]
    elif isinstance(rates, sympy.Expr):
        rates = [rates]
    rates = _listed("rates", rates, "expressions")
    if len(rates) != len(states):
        raise ValueError(f"rates must have an expression for each of the {len(states)} states; got {len(rates)}")
    return [_expression(f"rates: that of {name_of(s)}", r) for s, r in zip(states, rates, strict=True)]


# --------------------------------------------------------------------------------------------- inside expressions


def check(given, derivatives):
    """Refuse by name anything that cannot be compiled. ``derivatives`` are the time derivatives that will be replaced."""
    known = {s for s in (*given.states, *given.params, given.t) if s is not None} | set(derivatives)
    seen: set = set()
    for where, expression in given.expressions():
        if where.startswith("guard"):
            inside = sorted(str(s) for s in expression.free_symbols & set(given.sides))
            if inside:
                raise ValueError(f"{where} contains the side {', '.join(inside)}: guards depend on t, x and p only")
            if expression.has(sympy.Piecewise):
                raise ValueError(f"{where} contains a Piecewise: a guard must be smooth")
        _walk(expression, where, known | set(given.sides), seen)


def _walk(expression, where, known, seen):
    stack = [expression]
    while stack:
        e = stack.pop()
        if e in seen or e in known:
            continue
        seen.add(e)
        _check_node(e, where)
        if isinstance(e, sympy.Symbol):
            raise ValueError(f"{where} contains {e}, which is none of the states, params, sides or t{_hint(e, known)}")
        stack.extend(e.args)


def _hint(symbol, known):
    if any(str(other) == str(symbol) for other in known):
        return " (one of the same name is, but with other assumptions: use the same Symbol)"
    return ""


def _check_node(e, where):
    kind = type(e).__name__
    if kind in NOT_SMOOTH:
        raise ValueError(
            f"{where} contains {_short(e)}, which is not smooth: make what is inside a guard and write the two sides with "
            f"Piecewise or a side symbol, or use a smooth function such as sqrt(x**2 + small**2)"
        )
    if isinstance(e, sympy.Derivative):
        raise ValueError(
            f"{where} contains {_short(e)}, which is not known: make it a state, or replace it by its speed"
        )
    if isinstance(e, AppliedUndef):
        raise ValueError(f"{where} contains {_short(e)}, which is none of the states")
    if e in (sympy.I, sympy.zoo) or (e.is_Number and not e.is_finite):
        raise ValueError(f"{where} contains {e}: every part of an expression must be real and finite")
    good = (sympy.Add, sympy.Mul, sympy.Pow, sympy.Number, sympy.NumberSymbol, sympy.Symbol, sympy.Piecewise)
    logic = (Relational, Boolean, BooleanAtom, sympy.functions.elementary.piecewise.ExprCondPair)
    if not isinstance(e, good + logic) and kind not in FUNCTIONS:
        raise ValueError(
            f"{where} contains {_short(e)}: {kind} has no counterpart in compiled code; known are {', '.join(FUNCTIONS)}"
        )


def _short(e):
    text = str(e)
    return text if len(text) <= 60 else text[:57] + "..."
