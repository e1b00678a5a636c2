"""Ways in which a function can change, and who notices: machine code on disk, stores, saved solutions, systems in use.

    python -m tests.attacks.changes                     # a table of all, some minutes
    python -m tests.attacks.changes --only closure      # those whose names contain that

Each case is a program that defines f of the equation x' = -K x, with K = 1 in a first process and K = 2 in a second one. The second
must compute with K = 2 (from machine code that was kept, and in a store), or refuse; and it must warn when it loads the solution
that the first has saved. A third process, with K = 1 again and in another folder, must go on with the store without a word, unless the
function is one that cannot be looked into. And in the first process, the files are edited and its modules loaded again while the
system is in use: a new system must compute with K = 2; the old one must do what its f does by now when Python calls it, or warn.
The exit status is 1 if anything else came.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import textwrap
from typing import NamedTuple

from tqdm import tqdm


class Case(NamedTuple):
    """A program with ``@K@`` where the two processes differ, and modules that it imports (``@PK@`` is the name of its package)."""

    name: str
    main: str
    files: dict[str, str] = {}  # noqa: RUF012  (never changed)


PLAIN = "def f(t, x, b, p): return (-{} * x[0],)"


def _value(name: str, before: str, read: str, **files: str) -> Case:
    """A value that f reads from outside."""
    return Case(name, f"{before}\n{PLAIN.format(read)}", {f"{key}.py": text for key, text in files.items()})


def _closure(name: str, made: str, read: str) -> Case:
    """The same in a closure."""
    return Case(
        name, f"def make():\n    {made}\n    def f(t, x, b, p): return (-{read} * x[0],)\n    return f\nf = make()"
    )


def _called(name: str, helper: str, call: str = "helper(x[0])", **files: str) -> Case:
    """A function that f calls."""
    return Case(
        name, f"{helper}\ndef f(t, x, b, p): return (-{call},)", {f"{key}.py": text for key, text in files.items()}
    )


NUMPY, NUMBA = "import numpy as np\n", "import numba\n"
CASES = [
    # -- the code itself
    Case("a constant", "def f(t, x, b, p): return (-@K@ * x[0],)"),
    Case("an operator", "def f(t, x, b, p): return (-x[0] * 2.0 ** (@K@ - 1.0),)"),
    Case("a branch", "def f(t, x, b, p):\n    if @K@ > 1.5: return (-2.0 * x[0],)\n    return (-x[0],)"),
    Case("a default", "def f(t, x, b, p, k=@K@): return (-k * x[0],)"),
    Case("a keyword-only default", "def f(t, x, b, p, *, k=@K@): return (-k * x[0],)"),
    Case("an array as a default", NUMPY + "def f(t, x, b, p, k=np.array([@K@])): return (-k[0] * x[0],)"),
    Case("a lambda", "f = lambda t, x, b, p: (-@K@ * x[0],)"),
    Case(
        "the other of two lambdas in a line",
        "fs = lambda t, x, b, p: (-1.0 * x[0],), lambda t, x, b, p: (-2.0 * x[0],)\nf = fs[int(@K@) - 1]",
    ),
    Case("made by exec", "space = {}\nexec('def f(t, x, b, p): return (-@K@ * x[0],)', space)\nf = space['f']"),
    Case("made by eval", "f = eval('lambda t, x, b, p: (-@K@ * x[0],)')"),
    Case("a function inside f", "def f(t, x, b, p):\n    def inner(v): return @K@ * v\n    return (-inner(x[0]),)"),
    Case("a constant deep inside", "def f(t, x, b, p):\n    return (-(lambda v: (lambda w: @K@ * w)(v))(x[0]),)"),
    Case("a tuple of constants", "def f(t, x, b, p): return (-(0.0, @K@)[1] * x[0],)"),
    Case("a set of constants", "def f(t, x, b, p): return (-(2.0 if 2 in {int(@K@), 5} else 1.0) * x[0],)"),
    Case("in place", "def f(t, x, b, p, dx): dx[0] = -@K@ * x[0]"),
    Case("a function of Numba", NUMBA + "@numba.njit\ndef f(t, x, b, p): return (-@K@ * x[0],)"),
    Case("a loop", "def f(t, x, b, p):\n    s = 0.0\n    for i in range(int(@K@)): s += x[0]\n    return (-s,)"),
    Case("what is done at an error", "def f(t, x, b, p):\n    try:\n        return (-x[0] * [1.0][5],)\n    except IndexError:\n        return (-@K@ * x[0],)"),
    # -- values from outside
    _value("a global number", "K = @K@", "K"),
    _value("an integer instead of a float", "K = int(@K@)", "K"),
    _value("a global tuple", "K = (0.0, @K@)", "K[1]"),
    _value("a nested tuple", "K = (0.0, (1.0, @K@))", "K[1][1]"),
    _value("a global array", NUMPY + "K = np.array([@K@])", "K[0]"),
    _value("an element of a large array", NUMPY + "K = np.zeros(100_000)\nK[777] = @K@", "K[777]"),
    _value("the type of an array", NUMPY + "K = np.array([@K@ + 0.5]).astype(int if @K@ < 1.5 else float) - 0.5 * (@K@ > 1.5) + 0", "K[0]"),
    _value("the order of an array", NUMPY + "K = np.array([[1.0, 2.0], [2.0, 1.0]])[:, ::1 if @K@ < 2 else -1]", "K[0, 0]"),
    _value("a structured array", NUMPY + "K = np.array([(@K@,)], dtype=[('k', float)])", "K[0].k"),
    _value("a number of NumPy", NUMPY + "K = np.float64(@K@)", "K"),
    _value("a text", "K = 'fast' if @K@ > 1.5 else 'slow'", "(2.0 if K == 'fast' else 1.0)"),
    _value("True instead of 2", "K = bool(@K@ < 1.5) or 2", "float(K)"),
    _value("a list", "K = [0.0, @K@]", "K[1]"),
    _value("a list in a list", "K = [[@K@]]", "K[0][0]"),
    _value("a dict", "K = {'k': @K@}", "K['k']"),
    _value("a key of a dict", "K = {int(@K@): 0.0}", "max(K)"),
    _value("a set", "K = {@K@}", "max(K)"),
    _value("a frozen set", "K = frozenset({@K@})", "max(K)"),
    _value("a complex number", "K = complex(0.0, @K@)", "K.imag"),
    _value("bytes", "K = bytes([int(@K@)])", "float(K[0])"),
    _value("a range", "K = range(int(@K@))", "len(K)"),
    _value("a fraction", "from fractions import Fraction\nK = Fraction(@K@)", "float(K)"),
    _value("a decimal", "from decimal import Decimal\nK = Decimal(@K@)", "float(K)"),
    _value("a named tuple", "from collections import namedtuple\nK = namedtuple('K', 'k')(@K@)", "K.k"),
    _value("a named tuple's order", "from collections import namedtuple\nK = namedtuple('K', 'a k' if @K@ > 1.5 else 'k a')(1.0, 2.0)", "K.k"),
    _value("a data class", "from dataclasses import dataclass\n@dataclass\nclass C:\n    k: float = @K@\nK = C()", "K.k"),
    _value("a simple namespace", "from types import SimpleNamespace\nK = SimpleNamespace(k=@K@)", "K.k"),
    _value("an object", "class C: pass\nK = C()\nK.k = @K@", "K.k"),
    _value("an object with slots", "class C:\n    __slots__ = ('k',)\nK = C()\nK.k = @K@", "K.k"),
    _value("a private slot", "class C:\n    __slots__ = ('__k',)\n    def __init__(self): self.__k = @K@\n    def k(self): return self.__k\nK = C()", "K.k()"),
    _value("an object whose pickle hides it", "class C:\n    def __reduce__(self): return C, ()\nK = C()\nK.k = @K@", "K.k"),
    _value("an object in an object", "class C: pass\nK = C()\nK.c = C()\nK.c.k = @K@", "K.c.k"),
    _value("a list with an attribute", "class C(list): pass\nK = C()\nK.k = @K@", "K.k"),
    _value("a float with an attribute", "class C(float): pass\nK = C(1.0)\nK.k = @K@", "K.k"),
    _value("an array with an attribute", NUMPY + "class C(np.ndarray): pass\nK = np.zeros(1).view(C)\nK.k = @K@", "K.k"),
    _value("a masked array", NUMPY + "K = np.ma.masked_array([1.0, 2.0], [@K@ > 1.5, @K@ < 1.5])", "K.compressed()[0]"),
    _value("an enum", "import enum\nclass K(enum.IntEnum):\n    k = int(@K@)", "K.k"),
    _value("an enum's member", "import enum\nclass E(enum.Enum):\n    a = 1\n    b = 2\nK = E(int(@K@))", "(2.0 if K is E.b else 1.0)"),
    _value("an attribute of a class", "class K: k = @K@", "K.k"),
    _value("an attribute of a base class", "class B: k = @K@\nclass K(B): pass", "K.k"),
    _value("an attribute of a metaclass", "class M(type):\n    k = @K@\nclass K(metaclass=M): pass", "K.k"),
    _value("a static method", "class K:\n    @staticmethod\n    def k(): return @K@", "K.k()"),
    _value("a class method", "class K:\n    v = @K@\n    @classmethod\n    def k(cls): return cls.v", "K.k()"),
    _value("a property", "class C:\n    @property\n    def k(self): return @K@\nK = C()", "K.k"),
    _value("a cached property", "from functools import cached_property\nclass C:\n    @cached_property\n    def k(self): return @K@\nK = C()", "K.k"),
    _value("a method of an object's class", "class C:\n    def k(self): return @K@\nK = C()", "K.k()"),
    _value("__getattr__ of a class", "class C:\n    def __getattr__(self, name): return @K@\nK = C()", "K.k"),
    _value("__getitem__ of a class", "class C:\n    def __getitem__(self, i): return @K@\nK = C()", "K[0]"),
    _value("an attribute of a function", "def g(): pass\ng.k = @K@", "g.k"),
    _value("a polynomial of NumPy", NUMPY + "K = np.poly1d([@K@])", "K(0.0)"),
    _value("an interpolation of SciPy", "from scipy.interpolate import CubicSpline\nK = CubicSpline([0.0, 1.0, 2.0], [@K@] * 3)", "K(0.5)"),
    _value("a schedule", "import bouligand as bd\nK = bd.Schedule([0.0], [@K@])", "K(t)"),
    _value("an environment's copy", "import os\nos.environ['BD_K'] = '@K@'\nK = dict(BD_K=os.environ['BD_K'])", "float(K['BD_K'])"),
    _value("a lock beside it", "import threading\nclass C: pass\nK = C()\nK.lock, K.k = threading.Lock(), @K@", "K.k"),
    # -- in closures
    _closure("a closure's number", "k = @K@", "k"),
    _closure("a closure's array", "import numpy as np; k = np.array([@K@])", "k[0]"),
    _closure("a closure's list", "k = [@K@]", "k[0]"),
    _closure("a closure's function", "g = lambda v: @K@ * v", "g(1.0)"),
    _closure("a closure's object", "k = type('C', (), {})(); k.k = @K@", "k.k"),
    _closure("a closure in a closure", "k = @K@; g = lambda v: k * v", "g(1.0)"),
    # -- functions that f calls
    _called("a helper", "def helper(v): return @K@ * v"),
    _called("a helper's global", "K = @K@\ndef helper(v): return K * v"),
    _called("a helper's helper", "def deep(v): return @K@ * v\ndef helper(v): return deep(v)"),
    _called("a helper's default", "def helper(v, k=@K@): return k * v"),
    _called("a helper's keyword-only default", "def helper(v, *, k=@K@): return k * v"),
    _called("helpers that call each other", "def helper(v, n=3): return other(v, n)\ndef other(v, n): return @K@ * v if n == 0 else helper(v, n - 1)"),
    _called("a compiled helper", NUMBA + "@numba.njit\ndef helper(v): return @K@ * v"),
    _called("a compiled helper's global", NUMBA + "K = @K@\n@numba.njit\ndef helper(v): return K * v"),
    _called("a compiled helper with a cache on disk", NUMBA + "K = @K@\n@numba.njit(cache=True)\ndef helper(v): return K * v"),
    _called("a compiled helper used before", NUMBA + "K = 1.0\n@numba.njit\ndef helper(v): return K * v\nhelper(1.0)\nK = @K@"),
    _called("a compiled helper with signatures", NUMBA + "@numba.njit('f8(f8)')\ndef helper(v): return @K@ * v"),
    _called("a compiled helper's options", NUMBA + "@numba.njit(error_model='numpy' if @K@ > 1.5 else 'python')\ndef helper(v): return @K@ * v"),
    _called("a ufunc of Numba", NUMBA + "@numba.vectorize\ndef helper(v): return @K@ * v"),
    _called("a ufunc of Numba with a global", NUMBA + "K = @K@\n@numba.vectorize(['f8(f8)'])\ndef helper(v): return K * v"),
    _called("a ufunc of Python", NUMPY + "helper = np.frompyfunc(lambda v: @K@ * v, 1, 1)"),
    _called("np.vectorize", NUMPY + "helper = np.vectorize(lambda v: @K@ * v)"),
    _called("a decorator", "import functools\ndef times(g):\n    @functools.wraps(g)\n    def w(v): return @K@ * g(v)\n    return w\n@times\ndef helper(v): return v"),
    _called("a decorator's argument", "import functools\ndef times(k):\n    def d(g):\n        @functools.wraps(g)\n        def w(v): return k * g(v)\n        return w\n    return d\n@times(@K@)\ndef helper(v): return v"),
    _called("wrapped as a function of NumPy", NUMPY + "import functools\n@functools.wraps(np.linalg.norm)\ndef helper(v): return @K@ * v"),
    _called("a cached function", "import functools\n@functools.lru_cache\ndef helper(v): return @K@ * v"),
    _called("a partial function", "import functools\ndef g(k, v): return k * v\nhelper = functools.partial(g, @K@)"),
    _called("a partial function's keyword", "import functools\ndef g(v, k): return k * v\nhelper = functools.partial(g, k=@K@)"),
    _called("a partial of an operator", "import functools, operator\nhelper = functools.partial(operator.mul, @K@)"),
    _called("a bound method", "class C:\n    def __init__(self, k): self.k = k\n    def g(self, v): return self.k * v\nhelper = C(@K@).g"),
    _called("a callable object", "class C:\n    def __init__(self, k): self.k = k\n    def __call__(self, v): return self.k * v\nhelper = C(@K@)"),
    _called("a callable object's class", "class C:\n    def __call__(self, v): return @K@ * v\nhelper = C()"),
    _called("functions in a list", "gs = [lambda v: v, lambda v: @K@ * v]", "gs[1](x[0])"),
    _called("another function under the name", "def one(v): return v\ndef two(v): return 2.0 * v\nhelper = two if @K@ > 1.5 else one"),
    _called("another function of math", "from math import ceil, floor\nk = ceil if @K@ > 1.5 else floor", "k(1.5) * x[0]"),
    _called("another function of NumPy", NUMPY + "k = np.ceil if @K@ > 1.5 else np.floor", "k(1.5) * x[0]"),
    _called("another method of an array", NUMPY + "k = np.array([1.0, 2.0]).max if @K@ > 1.5 else np.array([1.0, 2.0]).min", "k() * x[0]"),
    _called("a C function's address", "import ctypes\nT = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)\nhelper = T(lambda v: @K@ * v)"),
    _called("an overloaded function", NUMBA + "from numba.extending import overload\ndef helper(v): return v * 0.0 + @K@ * v\n@overload(helper)\ndef _(v): return lambda v: @K@ * v"),
    _called("a constant by getattr", "class K: k = @K@", "getattr(K, 'k') * x[0]"),
    _called("a constant by globals()", "K = @K@", "globals()['K'] * x[0]"),
    _called("a constant by eval", "K = @K@", "eval('K') * x[0]"),
    _called("the system's time of year", "import calendar\ncalendar.k = @K@\nfrom calendar import k", "k * x[0]"),
    _called("a patched math.pi", "import math\nmath.tau = @K@", "math.tau * x[0]"),
    _called("a patched function of math", "import math\nmath.floor = lambda v: @K@", "math.floor(1.5) * x[0]"),
    # -- modules
    _value("a module's constant", "import @PK@.a as a", "a.K", a="K = @K@"),
    _value("a constant from a module", "from @PK@.a import K", "K", a="K = @K@"),
    _value("a submodule's constant", "import @PK@.a", "@PK@.a.K", a="K = @K@"),
    _value("a module in a module", "from @PK@ import a", "a.b.K", a="from @PK@ import b", b="K = @K@"),
    _value("a module's class", "from @PK@ import a", "a.C.K", a="class C: K = @K@"),
    _value("a module that is called like NumPy", "from @PK@ import a", "a.numpy.K", a="import types\nnumpy = types.ModuleType('numpy')\nnumpy.K = @K@"),
    _value("a module's __getattr__", "from @PK@ import a", "a.K", a="def __getattr__(name):\n    if name == 'K': return @K@\n    raise AttributeError(name)"),
    _value("a module by another name in f", "from @PK@ import a", "(lambda m: m.K)(a)", a="K = @K@"),
    Case("a module in a closure", "def make():\n    from @PK@ import a as m\n    def f(t, x, b, p): return (-m.K * x[0],)\n    return f\nf = make()", {"a.py": "K = @K@"}),
    Case("a module imported inside f", "def f(t, x, b, p):\n    from @PK@ import a\n    return (-a.K * x[0],)", {"a.py": "K = @K@"}),
    Case("a name imported inside f", "def f(t, x, b, p):\n    from @PK@.a import K\n    return (-K * x[0],)", {"a.py": "K = @K@"}),
    _called("a module's function", "from @PK@ import a", "a.g(x[0])", a="def g(v): return @K@ * v"),
    _called("a module's function's global", "from @PK@ import a", "a.g(x[0])", a="K = @K@\ndef g(v): return K * v"),
    _called("a module's compiled function", "from @PK@ import a", "a.g(x[0])", a=NUMBA + "K = @K@\n@numba.njit\ndef g(v): return K * v"),
    _called("a function of a module's module", "from @PK@ import a", "a.g(x[0])", a="from @PK@ import b\ndef g(v): return b.g(v)", b="def g(v): return @K@ * v"),
    _called("a helper that was moved", "from @PK@.@WHERE@ import g", "g(x[0])", one="def g(v): return v", two="def g(v): return 2.0 * v"),
    _called("a module called random", "from @PK@ import random", "random.g(x[0])", random="def g(v): return @K@ * v"),
    _called("a module that is edited in another file", "from @PK@.a import g", "g(x[0])", a="from @PK@.b import K\ndef g(v): return K * v", b="K = @K@"),
    # -- more kinds of objects and functions
    _value("a read-only view of a dict", "import types\nd = types.MappingProxyType({'k': @K@})", "d['k']"),
    _value("an ordered dict's order", "import collections\nd = collections.OrderedDict([('a', 1.0), ('b', 2.0)])\nif @K@ > 1.5: d.move_to_end('a')", "list(d.values())[0]"),
    _value("a dict with a default", "import collections\nd = collections.defaultdict(lambda: @K@)", "d['k']"),
    _value("a queue", "import collections\nd = collections.deque([@K@])", "d[0]"),
    _value("an array of Python", "import array\nd = array.array('d', [@K@])", "d[0]"),
    _value("bytes that can change", "d = bytearray([int(@K@)])", "float(d[0])"),
    _value("a view of memory", "d = memoryview(bytes([int(@K@)]))", "float(d[0])"),
    _value("a generator", "def g():\n    while True: yield @K@\nd = g()", "next(d)"),
    _value("a weak reference", "import weakref\nclass C: k = @K@\nc = C()\nd = weakref.ref(c)", "d().k"),
    _value("a context variable", "import contextvars\nd = contextvars.ContextVar('d', default=@K@)", "d.get()"),
    _value("a thread's own value", "import threading\nd = threading.local()\nd.k = @K@", "d.k"),
    _value("a sparse matrix", "import scipy.sparse\nd = scipy.sparse.csr_array([[@K@]])", "d[0, 0]"),
    _value("an array mapped from a file", NUMPY + "import tempfile\nd = np.memmap(tempfile.TemporaryFile(), shape=1)\nd[0] = @K@", "float(d[0])"),
    _value("an array of objects", NUMPY + "d = np.array([None, @K@], dtype=object)", "d[1]"),
    _value("a number behind a pointer", "import ctypes\nd = ctypes.c_double(@K@)", "d.value"),
    _value("an object whose class was changed", "class A: k = 1.0\nclass B: k = 2.0\nd = A()\nif @K@ > 1.5: d.__class__ = B", "d.k"),
    _value("a method of one object", "class A:\n    def g(self, v): return v\nd = A()\nd.g = lambda v: @K@ * v", "d.g(x[0]) / x[0]"),
    _value("a typed list of Numba", NUMBA + "d = numba.typed.List([@K@])", "d[0]"),
    _called("a function that is chosen by its argument", "import functools\n@functools.singledispatch\ndef helper(v): return v\n@helper.register\ndef _(v: float): return @K@ * v"),
    _called("a getter of an item", "import operator\nd = [1.0, 2.0]\ng = operator.itemgetter(int(@K@) - 1)", "g(d) * x[0]"),
    _called("a caller of a method", "import operator\nclass A:\n    def a(self): return 1.0\n    def b(self): return 2.0\nd = A()\ng = operator.methodcaller('a' if @K@ < 1.5 else 'b')", "g(d) * x[0]"),
    _called("a partial method", "import functools\nclass A:\n    def a(self, k, v): return k * v\n    b = functools.partialmethod(a, @K@)\nd = A()", "d.b(x[0])"),
    _called("a partial of a partial", "import functools\ndef g(a, b, v): return a * b * v\nhelper = functools.partial(functools.partial(g, 1.0), @K@)"),
    _called("an object that calls machine code", NUMBA + "class A: pass\nd = A()\n@numba.njit\ndef g(v): return @K@ * v\nd.g = g", "d.g(x[0])"),
    _called("a function with a context", "import contextlib\n@contextlib.contextmanager\ndef c():\n    yield @K@\ndef helper(v):\n    with c() as k: return k * v"),
    _called("a function of SymPy", "import sympy\nv = sympy.Symbol('v')\nhelper = sympy.lambdify(v, @K@ * v)"),
    _called("a method for arrays, given to Numba", NUMBA + "import numba.extending\n@numba.extending.overload_method(numba.types.Array, 'pk@PK@')\ndef _(v): return lambda v: @K@ * v[0]", "x.pk@PK@()"),
    _called("an attribute of arrays, given to Numba", NUMBA + "import numba.extending\n@numba.extending.overload_attribute(numba.types.Array, 'at_@PK@')\ndef _(v): return lambda v: @K@ * v[0]", "x.at_@PK@"),
    _called("a function that Numba inlines", NUMBA + "from numba.extending import register_jitable\n@register_jitable\ndef helper(v): return @K@ * v"),
    _called("a C function made by Numba", NUMBA + "@numba.cfunc('f8(f8)')\ndef helper(v): return @K@ * v"),
    _called("a generalised ufunc of Numba", NUMBA + NUMPY + "@numba.guvectorize(['(f8[:], f8[:])'], '(n)->(n)')\ndef g(v, out): out[0] = @K@ * v[0]", "g(x[:1])[0]"),
    _called("an object of a class of Numba", NUMBA + "@numba.experimental.jitclass([('k', numba.float64)])\nclass C:\n    def __init__(self, k): self.k = k\nd = C(@K@)", "d.k * x[0]"),
    _called("an intrinsic of Numba", NUMBA + "import numba.extending\n@numba.extending.intrinsic\ndef g(context, v):\n    def code(context, builder, signature, args): return context.get_constant(numba.float64, @K@)\n    return numba.float64(v), code\n@numba.njit\ndef helper(v): return g(v) * v"),
    # -- f itself is no plain function
    Case("f is a bound method", "class C:\n    def __init__(self, k): self.k = k\n    def f(self, t, x, b, p): return (-self.k * x[0],)\nf = C(@K@).f"),
    Case("f is an object", "class C:\n    def __init__(self, k): self.k = k\n    def __call__(self, t, x, b, p): return (-self.k * x[0],)\nf = C(@K@)"),
    Case("f is a static method", "class C:\n    K = @K@\n    @staticmethod\n    def f(t, x, b, p): return (-C.K * x[0],)\nf = C.f"),
    Case("f is a partial function", "import functools\ndef g(k, t, x, b, p): return (-k * x[0],)\nf = functools.partial(g, @K@)"),
    Case("f is made by a decorator", "import functools\ndef d(g):\n    @functools.wraps(g)\n    def w(t, x, b, p): return (@K@ * g(t, x, b, p)[0],)\n    return w\n@d\ndef f(t, x, b, p): return (-x[0],)"),
    Case("f's own code was replaced", "def f(t, x, b, p): return (-x[0],)\ndef g(t, x, b, p): return (-@K@ * x[0],)\nf.__code__ = g.__code__"),
    Case("f's own defaults were replaced", "def f(t, x, b, p, k=0.0): return (-k * x[0],)\nf.__defaults__ = (@K@,)"),
]  # fmt: skip

PROGRAM = """
import importlib, json, math, os, pathlib, shutil, sys, warnings
import numpy as np
import bouligand as bd
home, where, names = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
sys.path.insert(0, os.path.join(home, where))
sys.dont_write_bytecode = True  # (an edited file may have the same length and time)
warnings.simplefilter("ignore")
warnings.simplefilter("always", bd.FunctionWarning)
for name in names:
    found = {}
    try:
        system = bd.System(importlib.import_module(name + ".main").f, n=1)
        rate = lambda x: round(-math.log(x), 3)
        sol = bd.solve(system, (0.0, 1.0), [1.0])
        found["solved"] = rate(sol.x[-1, 0])
        try:
            ens = bd.solve_many(system, (0.0, 1.0), np.ones((2, 1)), store=os.path.join(home, name + ".zarr"))
            found["store"] = rate(ens.x[0, 0])
        except bd.StoreError as error:
            found["store"] = "refused"
        path = pathlib.Path(home, name + ".npz")
        if path.exists():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                bd.load(path, system)
            found["load"] = "warned" if any(w.category is bd.FunctionWarning for w in caught) else "silent"
        else:
            sol.save(path)
    except Exception as error:
        found["error"] = f"{type(error).__name__}: {str(error).splitlines()[0][:100]}"
    print("##", json.dumps([name, found]), flush=True)
if where != "first":
    sys.exit()
for name in names:
    found = {}
    try:
        f = importlib.import_module(name + ".main").f
        system = bd.System(f, n=1)
        bd.solve(system, (0.0, 1.0), [1.0])
        shutil.copytree(os.path.join(home, "second", name), os.path.join(home, where, name), dirs_exist_ok=True)
        importlib.invalidate_caches()
        for module in ("b", "a", "one", "two", "random", "main"):  # (what others import from first)
            if name + "." + module in sys.modules:
                importlib.reload(sys.modules[name + "." + module])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found["old"] = rate(bd.solve(system, (0.0, 1.0), [1.0]).x[-1, 0])
        found["said"] = any(w.category is bd.FunctionWarning for w in caught)
        found["new"] = rate(bd.solve(bd.System(sys.modules[name + ".main"].f, n=1), (0.0, 1.0), [1.0]).x[-1, 0])
        out = np.zeros(1)
        arguments = 0.0, np.ones(1), np.zeros(0), np.zeros(0)
        try:
            returned = f(*arguments, out) if system._functions["f"].in_place else f(*arguments)
            found["python"] = -float(np.asarray(out if returned is None else returned).ravel()[0])
        except (AttributeError, NotImplementedError):  # it uses what only Numba knows
            found["python"] = found["old"]
    except Exception as error:
        found["error"] = f"{type(error).__name__}: {str(error).splitlines()[0][:100]}"
    print("##", json.dumps([name, found]), flush=True)
"""


def written(case: Case, folder: pathlib.Path, package: str, k: float) -> None:
    """Write the program of a case as a package."""
    (folder / package).mkdir(parents=True)
    for name, text in {"__init__.py": "", "main.py": case.main, **case.files}.items():
        text = text.replace("@K@", str(k)).replace("@PK@", package).replace("@WHERE@", "one" if k == 1.0 else "two")
        (folder / package / name).write_text(text + "\n")


class Found(NamedTuple):
    """What was found in a case: by the three processes, and in the first one after its files were edited."""

    first: dict[str, object]
    edited: dict[str, object]
    second: dict[str, object]
    third: dict[str, object]

    def is_right(self) -> bool:
        """Whether nothing stale came. (A case in which f itself cannot be used tests nothing.)"""
        known = self.first.get("store") == 1.0
        return (
            self.first.get("solved") == self.third.get("solved") == 1.0
            and self.second.get("solved") == self.edited.get("new") == 2.0
            and (known or self.first.get("store") == "refused")
            and self.second.get("store") in (2.0, "refused")
            and self.second.get("load") == "warned"
            and (self.third.get("store"), self.third.get("load"))
            == ((1.0, "silent") if known else ("refused", "warned"))
            and (bool(self.edited.get("said")) or self.edited.get("old") == self.edited.get("python"))
        )


def run(cases: list[Case]) -> list[tuple[str, Found]]:
    """What was found, for each case."""
    names = {f"case_{number}": case for number, case in enumerate(cases)}
    found: dict[str, list[dict[str, object]]] = {name: [] for name in names}
    phases = {"first": 1.0, "second": 2.0, "third": 1.0}
    with tempfile.TemporaryDirectory() as home:
        program = pathlib.Path(home, "program.py")
        program.write_text(textwrap.dedent(PROGRAM))
        for where, k in phases.items():
            for name, case in names.items():
                written(case, pathlib.Path(home, where), name, k)
        for where in phases:
            command = [sys.executable, program, home, where, json.dumps(list(names))]
            total = len(names) * (2 if where == "first" else 1)
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                for line in tqdm(process.stdout, where, total, leave=False, disable=None):
                    if line.startswith("## "):
                        name, what = json.loads(line[3:])
                        found[name].append(what)
    return [(case.name, Found(*found[name])) for name, case in names.items()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases whose names contain this")
    cases = [case for case in CASES if parser.parse_args().only in case.name]
    wrong = 0
    print(f"{'what changes':44s} {'solved':>13s}  {'store':>23s}  {'load':21s}  while in use")
    for name, found in run(cases):
        right = found.is_right()
        wrong += not right
        solved, store, load = (
            " ".join(str(one.get(what)) for one in (found.first, found.second, found.third))
            for what in ("solved", "store", "load")
        )
        old = "warned" if found.edited.get("said") else found.edited.get("old")
        print(f"{name:44s} {solved:>13s}  {store:>23s}  {load:21s}  {old} {found.edited.get('new')}", end="")
        print("" if right else "   WRONG", *(f"  {one['error']}" for one in found if "error" in one))
    print(f"{len(cases)} ways, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
