"""Lines of generated code: expressions printed so that Numba compiles them well, and the few kinds of statements around them."""

from sympy.printing.pycode import PythonCodePrinter


class _Printer(PythonCodePrinter):
    """Python that Numba compiles well, and floats with all their digits."""

    def __init__(self):
        super().__init__({"fully_qualified_modules": True, "standard": "python3"})

    def _print_Float(self, e):
        return repr(float(e))

    def _print_Integer(self, e):
        return str(int(e)) if abs(int(e)) < 2**31 else repr(float(e))

    def _print_Rational(self, e):
        return f"({float(e.p)!r}/{float(e.q)!r})"

    def _print_Pow(self, e, **_):
        base, power = self.parenthesize(e.base, 200), e.exp
        if power.is_Rational and power.q <= 2 and abs(power) <= 4:
            whole, half = divmod(abs(power.p), power.q) if power.q == 2 else (abs(power.p), 0)
            factors = [base] * whole + [f"math.sqrt({self._print(e.base)})"] * half
            product = "*".join(factors)
            return f"(1.0/({product}))" if power < 0 else f"({product})"
        if power.is_Integer:
            return f"({base}**{int(power)})"
        return f"math.pow({self._print(e.base)}, {self._print(power)})"

    def _print_Piecewise(self, e):
        *some, (last, _) = e.args
        text = self._print(last)
        for value, condition in reversed(some):
            text = f"({self._print(value)} if {self._print(condition)} else {text})"
        return text

    def _print_sec(self, e):
        return f"(1.0/math.cos({self._print(e.args[0])}))"

    def _print_csc(self, e):
        return f"(1.0/math.sin({self._print(e.args[0])}))"

    def _print_cot(self, e):
        return f"(1.0/math.tan({self._print(e.args[0])}))"


code = _Printer().doprint


def function(signature, lines):
    return "\n".join([f"def {signature}:", *indented(lines or ["pass"])])


def indented(lines):
    return ["    " + line for line in lines]


def loads(symbols):
    """Lines that take inputs from the arrays they come in."""
    lines = []
    for symbol in sorted(symbols, key=lambda s: (s.name.rstrip("0123456789"), len(s.name), s.name)):
        letter = symbol.name.rstrip("0123456789")
        index = symbol.name[len(letter) :]
        if letter in ("x", "p", "b"):
            lines.append(f"{symbol} = {letter}[{index}]")
        elif letter == "on":
            lines.append(f"{symbol} = b[{index}] > 0.0")
    return lines


def statements(statements):
    return [f"{symbol} = {code(e)}" for symbol, e in statements]


def zeros(rows, columns):
    return [f"for i in range({rows}):", f"    for j in range({columns}):", "        out[i, j] = 0.0"]
