"""Accesses to memory, marked by what is there: a value, tangents, or a plain number, none of which is ever where another is.

Values and tangents alternate in memory. Of two parts of one array, say dx[i] and dx[m + i], LLVM only sees where each begins and
ends; since the values of one are between its own tangents, it would take these for overlapping, and a loop over all states would
not become vector code. With the marks (LLVM's "tbaa") it compares values with values.

While a function of dual numbers with one tangent is compiled, Numba's load and store of an item of an array are replaced
("marks", see `compiler.compiling`). Accesses without a mark may be to anything.
"""

import contextlib

from llvmlite import ir
from numba import types
from numba.np import arrayobj

from .number import is_dual, pack

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_PARTS = ("value", "tangents")  # of a dual number, in memory
_PLAIN = "plain number"


def _mark(builder, access, what):
    """A load or a store, marked by what is read or written."""
    module = builder.module
    kind = module.add_metadata([what, module.add_metadata(["bouligand"]), _I64(0)])
    access.set_metadata("tbaa", module.add_metadata([kind, kind, _I64(0)]))
    return access


@contextlib.contextmanager
def marked():
    """Items of arrays are loaded and stored with marks. (Under Numba's lock: no other thread compiles meanwhile.)"""
    usual_load, usual_store = arrayobj.load_item, arrayobj.store_item

    def place(builder, pointer, part):
        return builder.gep(pointer, [_I32(0), _I32(part)])

    def load_item(context, builder, array, pointer):
        if is_dual(array.dtype):
            loads = (builder.load(place(builder, pointer, q), align=8) for q in (0, 1))
            return pack(builder, *(_mark(builder, load, what) for load, what in zip(loads, _PARTS, strict=True)))
        item = usual_load(context, builder, array, pointer)
        return _mark(builder, item, _PLAIN) if array.dtype == types.float64 else item

    def store_item(context, builder, array, item, pointer):
        if is_dual(array.dtype):
            for q, what in enumerate(_PARTS):
                store = builder.store(builder.extract_value(item, q), place(builder, pointer, q), align=8)
                _mark(builder, store, what)
            return
        usual_store(context, builder, array, item, pointer)
        if array.dtype == types.float64:
            _mark(builder, builder.block.instructions[-1], _PLAIN)

    arrayobj.load_item, arrayobj.store_item = load_item, store_item
    try:
        yield
    finally:
        arrayobj.load_item, arrayobj.store_item = usual_load, usual_store
