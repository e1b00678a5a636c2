"""Shortcuts through Numba's front end: what it works out again and again while it compiles is worked out once.

They change nothing of what is found. See `compiling` for when they are taken.
"""

import contextlib
import gc
import sys

from numba import types
from numba.core import base, event
from numba.core.base import BaseContext
from numba.core.typing.context import BaseContext as TypingContext

_PLAIN = (types.Number, types.Boolean, types.Literal, types.Array)


def _is_plain(kind):
    """Whether this is a number, an array, or a tuple of these."""
    return isinstance(kind, _PLAIN) or (isinstance(kind, types.BaseTuple) and all(map(_is_plain, kind)))


@contextlib.contextmanager
def replaced(owner, name, function):
    """Replace a function of a class or a module for a while."""
    usual = getattr(owner, name)
    setattr(owner, name, function)
    try:
        yield
    finally:
        setattr(owner, name, usual)


@contextlib.contextmanager
def typed_once():
    """Remember the types of calls with numbers and arrays, and those of attributes ("types").

    For each ``a * b`` and ``v[i]`` Numba tries some ten rules, those of strings and tuples among them, twice each: in the core
    10,000 times for 200 different kinds. (A rule that is added later makes another ``types.Function``, so that none goes
    stale; and what Numba notes in it about a signature stays there.)
    """
    call_type, attribute = types.Function.get_call_type, TypingContext.resolve_getattr
    calls, attributes = {}, {}

    def get_call_type(function, context, args, kws):
        if kws or not all(map(_is_plain, args)):
            return call_type(function, context, args, kws)
        signature = calls.get((function, args))
        if signature is None:
            signature = calls[function, args] = call_type(function, context, args, kws)
        return signature

    def resolve_getattr(context, kind, name):
        if (kind, name) in attributes:
            return attributes[kind, name]
        found = attribute(context, kind, name)
        if not isinstance(found, types.Callable):  # (a method: it notes what it is called with)
            attributes[kind, name] = found
        return found

    with (
        replaced(types.Function, "get_call_type", get_call_type),
        replaced(TypingContext, "resolve_getattr", resolve_getattr),
    ):
        yield


@contextlib.contextmanager
def sizes_found_once():
    """Remember the sizes of LLVM's types ("sizes"): Numba writes a module and has it parsed for each variable to find them."""
    usual, known = BaseContext.get_abi_sizeof, {}

    def get_abi_sizeof(context, kind):
        name = str(kind)
        if "%" in name:  # (a name of another module could stand for something else)
            return usual(context, kind)
        if name not in known:
            known[name] = usual(context, kind)
        return known[name]

    with replaced(BaseContext, "get_abi_sizeof", get_abi_sizeof):
        yield


def _rules(context):
    """How many modules there are, and rules that a context knows or could know."""
    kept = context._registries.items()
    return len(sys.modules), sum(len(getattr(rules, kind)) for rules, loader in kept for kind in loader.registry_items)


@contextlib.contextmanager
def rules_read_once():
    """Look for new rules only if there are some, and once whether an implementation wants to know the place of a call ("rules").

    Numba asks all its modules before each function, and wherever it has no rule for a constant index.
    """
    target, typing, has_loc = BaseContext.refresh, TypingContext.refresh, base._has_loc
    known, wants = {}, {}

    def refresh(context):
        if known.get(type(context)) != _rules(context):
            target(context)
            known[type(context)] = _rules(context)

    def refresh_types(context):
        if known.get(type(context)) != _rules(context):
            typing(context)
            known[type(context)] = _rules(context)

    def asks_for_place(function):
        if function not in wants:
            wants[function] = has_loc(function)
        return wants[function]

    with (
        replaced(BaseContext, "refresh", refresh),
        replaced(TypingContext, "refresh", refresh_types),
        replaced(base, "_has_loc", asks_for_place),
    ):
        yield


@contextlib.contextmanager
def undisturbed():
    """No search for garbage in what was there before, and seldom in what is new; no messages that nobody hears ("idle")."""
    alone = not any(event._registered.values())
    thresholds, frozen = gc.get_threshold(), gc.get_freeze_count() == 0
    if frozen:
        gc.freeze()
    gc.set_threshold(*(max(a, b) for a, b in zip(thresholds, (20_000, 10, 50), strict=True)))
    try:
        with contextlib.ExitStack() as stack:
            for name in ("start_event", "end_event", "broadcast") if alone else ():
                stack.enter_context(replaced(event, name, lambda *args, **kwargs: None))
            yield
    finally:
        gc.set_threshold(*thresholds)
        if frozen:
            gc.unfreeze()
