"""The field while the trajectory slides on a single guard, the most frequent case: without a linear system to solve, and in
memory that the context has, as most systems that slide are small."""

from ..compiler.intrinsics import call, compact, read, read_int, write
from ..state import DUAL, SPACE, USERS_F, USERS_H_DUAL
from .rates import compiled, put_duals
from .rest import rests
from .space import compiled_layout

NOT_SIMPLE = -99  # instead of a status: as for several guards
VANISHING = 1e-9  # g over f: below that hardly anything is left of it


@compiled
def one_guard(t, x, b, p, ctx, dx):
    """Status and multiplier u of the one guard that is slid on; the field f0 + g u goes to the address dx, if that is not 0.

    NOT_SIMPLE where the trajectory rests on it, where hardly anything is left of g, or without h of dual numbers.
    """
    compact()
    n, m, parameters = read_int(ctx, 0), read_int(ctx, 1), read_int(ctx, 2)
    if read_int(ctx, USERS_H_DUAL) == 0:
        return NOT_SIMPLE, 0.0
    word = read_int(ctx, SPACE)
    fields, duals, behind, _ = compiled_layout(n, m, parameters)
    for i in range(duals, behind):
        write(word, i, 0.0)
    high, low, duals = word + 8 * fields, word + 8 * (fields + n), word + 8 * duals
    kept = 0
    for k in range(m):
        write(word, k, read(b, k))
        kept = k if read(b, k) == 0.0 else kept
    if rests(ctx, kept):
        return NOT_SIMPLE, 0.0
    # --- f on both sides; then its mean f0, and half the difference g
    f = read_int(ctx, USERS_F)
    write(word, kept, 1.0)
    status = call(f, t, (x, word, p, high), ctx)
    write(word, kept, -1.0)
    status = status or call(f, t, (x, word, p, low), ctx)
    T, X, P, out = put_duals(t, x, p, n, m, parameters, duals)
    write(T, 2, 1.0)
    size, largest = 0.0, 0.0
    for i in range(n):
        above, below = read(high, i), read(low, i)
        write(high, i, 0.5 * (above - below))
        write(low, i, above - 0.5 * (above - below))
        write(X, DUAL * i + 1, read(high, i))
        write(X, DUAL * i + 2, read(low, i))
        size, largest = max(size, abs(read(low, i))), max(largest, abs(read(high, i)))
    # --- Dh (f0 + g u) + D_t h = 0
    status = status or call(read_int(ctx, USERS_H_DUAL), t, (T, X, P, out), ctx)
    along, rate = read(out, DUAL * kept + 1), read(out, DUAL * kept + 2)
    simple = status != 0 or (along != 0.0 and largest > VANISHING * size)
    u = -rate / along if simple and status == 0 else 0.0
    if simple and dx != 0:
        for i in range(n):
            write(dx, i, read(low, i) + read(high, i) * u)
    return status if simple else NOT_SIMPLE, u
