"""The Jacobians of f at a state: those that were given; else by dual numbers, eight columns at a time; else by differences."""

from . import codes
from .compiler.intrinsics import address, call, compact
from .compiler.jit import core
from .compiler.vectors import clear
from .evaluate import count_f, eval_f, failed
from .state import DUAL, FEW_DUAL, LANES, ONE_DUAL


@core(inline=True)
def evaluate_jacobians(w, Df, Dp_f, t, x):
    """Df and, if it has columns, Dp_f at x. True if a function failed."""
    jac, steps = w.tangents.jacobians, w.tangents.differences
    if jacobian(w, jac.Df, x, steps, Df, t, x):
        return True
    return Dp_f.shape[1] > 0 and jacobian(w, jac.Dp_f, w.p, steps[w.v.width :], Dp_f, t, x)


@core(inline=True)
def eval_along(w, D, of_p, t, x, tangents, out):
    """out = Df times these tangents at x, plus Dp_f times the components of D along parameters, by a bridge's function. f has
    just been evaluated there. True if it failed."""
    n, count, width = w.v.width, D.shape[0], D.shape[1]
    parameters = address(D) + 8 * n if of_p.shape[0] > 0 else 0
    at_x = (address(x), address(w.g.b), address(w.p), address(tangents))
    arguments = (*at_x, tangents.shape[0] // n, count, parameters, width, address(out))
    if call(w.tangents.jacobians.along, t, arguments, w.fn.context) != 0:
        return failed(w, codes.DF_FAILED, t, x)
    return False


@core
def jacobian(w, given, varied, steps, J, t, x):
    """J = the derivative of f at x in ``varied`` (x itself, or p). True if a function failed."""
    compact()
    fn = w.fn
    if given != 0:
        if call(given, t, (address(x), address(w.g.b), address(w.p), address(J)), fn.context) != 0:
            return failed(w, codes.DF_FAILED, t, x)
        return False
    if w.tangents.jacobians.f_dual != 0:
        return by_duals(w, address(varied) == address(w.p), J, t, x, 0, J.shape[1])
    return by_differences(w, varied, steps, J, t, x)


@core
def by_duals(w, of_p, J, t, x, begin, end):
    """The columns of J from ``begin`` up to ``end``, LANES at a time: each is the tangent of f along one state (or parameter).
    True if f failed."""
    compact()
    fn, X, P, out = w.fn, w.tangents.dual_x, w.tangents.dual_p, w.tangents.dual_out
    n = w.v.width
    without_tangents(x, X)
    without_tangents(w.p, P)
    arguments = address(X), address(w.g.b), address(P), address(out)
    for first in range(begin, end, LANES):
        many = min(LANES, end - first)
        seed(P if of_p else X, first, many, 1.0)
        count_f(w.s, 1)
        if call(w.tangents.jacobians.f_dual, t, arguments, fn.context) != 0:
            return failed(w, codes.DF_FAILED, t, x)
        seed(P if of_p else X, first, many, 0.0)
        for i in range(n):
            for q in range(many):
                J[i, first + q] = out[DUAL * i + 1 + q]
    return False


@core(inline=True)
def without_tangents(values, duals):
    """duals = these values as dual numbers whose tangents are zero."""
    spread(values, duals, DUAL)


@core(inline=True)
def spread(values, duals, size):
    """The same for dual numbers of another size."""
    clear(duals, 0, size * values.shape[0])
    for i in range(values.shape[0]):
        duals[size * i] = values[i]


@core
def spread_parameters(w):
    """plain_p, few_p, one_p = the parameters in force as dual numbers without tangents: once for all steps and crossings that use
    them, since they may be many more than the states."""
    compact()
    spread(w.p, w.tangents.plain_p, DUAL)
    spread(w.p, w.tangents.few_p, FEW_DUAL)
    spread(w.p, w.tangents.one_p, ONE_DUAL)


@core(inline=True)
def seed(duals, first, many, value):
    """Set tangent q of the dual number first + q, for ``many`` of them."""
    for q in range(many):
        duals[DUAL * (first + q) + 1 + q] = value


@core(inline=True)
def by_differences(w, varied, steps, J, t, x):
    """J = the derivative of f at x in ``varied`` (x itself, or p), by central differences. True if f failed."""
    v = w.v
    for i in range(varied.shape[0]):
        here = varied[i]
        high, low = here + steps[i], here - steps[i]
        varied[i] = high
        bad = eval_f(w, t, x, v.f_end)
        varied[i] = low
        bad = bad or eval_f(w, t, x, v.second)
        varied[i] = here
        if bad:
            return True
        for j in range(v.width):
            J[j, i] = (v.f_end[j] - v.second[j]) / (high - low)
    return False
