"""Options that are given as NAME=VALUE."""

import math

from .errors import CommandError


def assignments(option, texts, known, what):
    """{name: number} from texts NAME=VALUE; ``known`` are the names allowed, and ``what`` they are called in messages."""
    out = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals:
            raise CommandError(f"{option}: expected NAME=VALUE; got {text!r}")
        if name not in known:
            some = ", ".join(known[:20]) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
            raise CommandError(f"{option}: no {what} is called {name!r}; there are: {some or 'none'}")
        try:
            out[name] = float(value)
        except ValueError:
            out[name] = math.nan
        if not math.isfinite(out[name]):
            raise CommandError(f"{option}: {name} must be a finite number; got {value!r}")
    return out
