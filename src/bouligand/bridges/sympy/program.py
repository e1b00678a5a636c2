"""Straight-line programs: expressions with common subexpressions computed once, and their derivatives.

A derivative is taken statement by statement, by the chain rule, so that its size follows that of the program and not that of
the expressions written out: for the equations of a robot that is the difference between a second and an hour.
"""

from itertools import count

from sympy import Add, Piecewise, S, Symbol, cse

LONG = 3  # terms of a sum


class Program:
    """Statements ``(symbol, expression)`` in order, and outputs in terms of their symbols."""

    def __init__(self, statements, outputs, names):
        self._names = names
        statements, self.outputs = _without_copies(dict(statements), list(outputs))
        self.statements = _needed(statements, self.outputs)

    @classmethod
    def of(cls, expressions):
        names = (Symbol(f"v{i}") for i in count())
        statements, outputs = cse(list(expressions), symbols=names, order="none")
        statements, outputs = _lift(statements, outputs, names)
        return cls(statements, outputs, names)

    @property
    def symbols(self):
        """The inputs that are used."""
        own = {symbol for symbol, _ in self.statements}
        used = set().union(*[e.free_symbols for e in self.outputs], *[e.free_symbols for _, e in self.statements])
        return used - own

    @property
    def size(self):
        return sum(1 + e.count_ops() for _, e in self.statements) + sum(e.count_ops() for e in self.outputs)

    def derivative(self, wrt, rows):
        """The program of the outputs before, and of the Jacobian of ``self.outputs[i] for i in rows`` by the symbols ``wrt``.

        Returns it with a mapping from (row, column) to the expression of each element that is not zero.
        """
        by = {symbol: {j: S.One} for j, symbol in enumerate(wrt)}  # symbol: column: its derivative
        more = []

        def gradient(e):
            if isinstance(e, Piecewise):
                return _choose(e, [gradient(branch) for branch, _ in e.args])
            terms: dict = {}
            for term in Add.make_args(e):
                for symbol in sorted(term.free_symbols & by.keys(), key=str):
                    partial = term.diff(symbol)
                    for j, d in by[symbol].items():
                        terms.setdefault(j, []).append(partial * d)
            return {j: d for j, parts in terms.items() if (d := Add(*parts)) != 0}

        for symbol, e in self.statements:
            by[symbol] = {}
            for j, d in gradient(e).items():
                if not d.is_Atom:
                    more.append((next(self._names), d))
                    d = more[-1][0]
                by[symbol][j] = d
            if not by[symbol]:
                del by[symbol]
        elements = {(i, j): d for i in rows for j, d in gradient(self.outputs[i]).items()}
        shared, reduced = cse(
            [e for _, e in self.statements] + [e for _, e in more] + list(elements.values()) + self.outputs,
            symbols=self._names,
            order="none",
        )
        names = [symbol for symbol, _ in self.statements] + [symbol for symbol, _ in more]
        values = reduced[len(names) :]
        whole = [*shared, *zip(names, reduced, strict=False)]
        whole, values = _lift(whole, values, self._names)
        count = len(elements)
        program = Program(whole, [*values[count:], *values[:count]], self._names)
        return program, dict(zip(elements, program.outputs[len(self.outputs) :], strict=True))


def _choose(choice, gradients):
    """The derivative of a choice is the choice of derivatives: a branch not taken may be NaN, and must not be multiplied by 0."""
    columns = sorted(set().union(*gradients))
    pick = {
        j: Piecewise(*[(g.get(j, S.Zero), on) for g, (_, on) in zip(gradients, choice.args, strict=True)])
        for j in columns
    }
    return {j: d for j, d in pick.items() if d != 0}


def _lift(statements, outputs, names):
    """Every Piecewise, and every long sum inside another expression, as a statement of its own: derivatives are then taken of
    choices as a whole, and of sums term by term.
    """
    lifted: dict = {}
    made = []

    def within(e):
        e = inside(e)
        if isinstance(e, Piecewise) or (e.is_Add and len(e.args) > LONG):
            if e not in lifted:
                lifted[e] = next(names)
                made.append((lifted[e], e))
            return lifted[e]
        return e

    def inside(e):
        return e.func(*[within(a) for a in e.args]) if e.args and e.has(Piecewise, Add) else e

    def terms(e):
        """The terms of a sum are visited, the sum itself stays."""
        return within(e) if isinstance(e, Piecewise) else inside(e)

    kept = [(symbol, inside(e)) for symbol, e in statements]
    outputs = [terms(e) for e in outputs]
    return [*kept, *made], outputs


def _without_copies(statements, outputs):
    """Statements that only give another name, or a name to a number, are taken out."""
    while copies := {symbol: e for symbol, e in statements.items() if e.is_Atom}:
        while any(e in copies for e in copies.values()):
            copies = {symbol: copies.get(e, e) for symbol, e in copies.items()}
        statements = {symbol: e.xreplace(copies) for symbol, e in statements.items() if symbol not in copies}
        outputs = [e.xreplace(copies) for e in outputs]
    return statements, outputs


def _needed(statements, outputs):
    """Those statements that the outputs need, each after what it needs itself."""
    done: dict = {}
    stack = [symbol for e in reversed(outputs) for symbol in sorted(e.free_symbols, key=str)]
    while stack:
        symbol = stack[-1]
        if symbol in done or symbol not in statements:
            stack.pop()
            continue
        missing = [s for s in statements[symbol].free_symbols if s in statements and s not in done]
        if missing:
            stack.extend(sorted(missing, key=str))
        else:
            done[symbol] = statements[symbol]
            stack.pop()
    return list(done.items())
