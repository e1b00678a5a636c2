"""Why Numba does not compile a user's function: the line, what is wrong with it, and what to write instead."""

from __future__ import annotations

import builtins
import linecache
import re
import types
from typing import Any

# what Numba says, and what helps
_HINTS = (
    (r"Untyped global name '(\w+)'", "pass the numbers that it takes from {0} in p, or as globals of their own"),
    (
        r"getitem\(.*Literal\[str\]\((\w+)\)",
        "p is an array: write p[0], p[1], ... in the order of params, not p['{0}']",
    ),
    (r"IMPORT_NAME", "import at the top of the file, not inside the function"),
    (
        r"Unknown attribute '(\w+)' of type Module\(.*scipy",
        "Numba has no scipy; {0} has to be written out, or compile=False",
    ),
    (r"Cannot unify", "give the variable one type on all branches, for example 0.0 and not 0 or None"),
    (r"f-strings", "leave out the text; look at sol.t and sol.x afterwards"),
)


def undefined_name(error: Exception) -> str | None:
    """The name that is not defined, if that is what Numba reports of a function (or of one that it calls)."""
    found = re.search(r"NameError: name '(\w+)' is not defined", str(error))
    return found[1] if found else None


def name_error(name: str, missing: str, function: Any) -> NameError:
    """What Python would raise when it comes to that name, with the line in which the name stands."""
    python = getattr(function, "py_func", function)
    where = ""
    if isinstance(python, types.FunctionType) and not hasattr(builtins, missing):
        line = _line_with(python.__code__, missing)
        where = f" ({line})" if line else ""
    return NameError(f"name {missing!r} is not defined, in {name}{where}", name=missing)


def why(error: Exception) -> str:
    """The reason in a line or two: what Numba says, where, and what helps."""
    text = str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if not line.startswith(("Failed in nopython mode", "During:"))]
    first = told[0] if told else repr(error)
    first = re.sub(r"\s*Raised from .*$", "", first).rstrip(":")
    first = re.sub(r"Function\(<(?:built-in )?(?:function|class) '?([\w.]+)'?(?: at \w+)?>\)", r"\1", first)
    call = next((line.removeprefix(">>>").strip() for line in lines if line.startswith(">>>")), "")
    if call and "signature" in first:
        first = f"Numba does not know {_shortened(call)}"
    first = re.sub(r", defined at .*$| from '.*?'", "", first)
    hint = next((what.format(*found.groups()) for pattern, what in _HINTS if (found := re.search(pattern, text))), "")
    return first + _where(text) + (f"\n    {hint}" if hint else "")


def _shortened(call: str) -> str:
    """A call with the types of its arguments, as a user would say it."""
    for long, short in (
        (r"array\(float64, (\d)d, \w\)", r"array(\1d)"),
        (r"readonly ", ""),
        (r"Literal\[\w+\]\((.*?)\)", r"\1"),
        (r"float64|int64", "number"),
        (r"unicode_type", "text"),
        (r"Function\(<class '(\w+)'>\)", r"\1"),
    ):
        call = re.sub(long, short, call)
    return call if len(call) < 100 else call[:97] + "..."


def _where(text: str) -> str:
    """File, line and what stands there, of the user's own code."""
    places = re.findall(r"(?:typing of .*? at|Raised from) (\S.*?) \((\d+)\)", text)
    places += re.findall(r'File "([^"]+)", line (\d+)', text)
    places = [(path, int(line)) for path, line in places if "site-packages" not in path and "numba" not in path]
    for path, line in places:
        source = linecache.getline(path, line).strip()
        if source:
            return f"\n    line {line} of {path}: {source}"
    return f"\n    line {places[0][1]} of {places[0][0]}" if places else ""


def _line_with(code: types.CodeType, name: str) -> str:
    """The line of a function's source in which a name stands."""
    for number in sorted({line for *_, line in code.co_lines() if line}):
        source = linecache.getline(code.co_filename, number)
        if re.search(rf"\b{name}\b", source):
            return f"line {number} of {code.co_filename}: {source.strip()}"
    return ""
