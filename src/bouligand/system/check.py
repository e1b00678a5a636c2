"""The paper's section 2 as a tool: is this an event-selected system near x, and are its Jacobians right?"""

from dataclasses import dataclass, field
from itertools import product

import numpy as np

MOST_GUARDS = (
    10  # all words of that many guards are tried; of more, those that differ from the present one in up to two
)


@dataclass
class Report:
    """What a check found. ``ok`` says whether anything is wrong; printing it says what.

    Attributes
    ----------
    jacobians : dict
        For each Jacobian that was given (and for the sum f0 + g, if f was given too), the largest relative difference.
    depends_on_signs_only : bool
        Whether f gives the same with b scaled by positive numbers.
    margin : float
        The smallest ``-b hdot`` found: over words around x, over guards (near x), relative to the largest hdot of that
        guard. Positive: each guard is crossed for good, in whatever order they come.
    worst : tuple (guard, word) or None
        Where that margin is.
    speeds : array (m,)
        Largest |hdot| of each guard over those words: the paper's mu, used by `normalised`.
    problems : list of str
    """

    jacobians: dict = field(default_factory=dict)
    depends_on_signs_only: bool = True
    margin: float = np.inf
    worst: tuple | None = None
    speeds: np.ndarray = field(default_factory=lambda: np.empty(0))
    problems: list = field(default_factory=list)
    notes: list = field(default_factory=list)

    @property
    def ok(self):
        return not self.problems

    def __repr__(self):
        lines = ["System check: " + ("all right" if self.ok else f"{len(self.problems)} problem(s)")]
        lines += [f"  - {problem}" for problem in self.problems]
        lines += [
            f"  {name}: agrees with differences to {error:.1e}"
            for name, error in self.jacobians.items()
            if error <= 1e-5
        ]
        if self.worst is not None:
            guard, word = self.worst
            word = np.array2string(word, threshold=12)
            lines.append(
                f"  smallest margin of hdot: {self.margin:.3g} (relative), guard {guard!r} under the word {word}"
            )
        lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines)


def check(system, x, p=None, t=0.0, *, guards=None, tol=1e-5):
    """Check a system at a state.

    Supplied Jacobians are compared with central differences; f is evaluated with scaled b; and ``hdot`` is evaluated for the
    words around x: all words of the guards at hand (``guards``; default, all up to ten, else the ten nearest to zero), the
    others as they are. Returns a Report.
    """
    x = np.array(x, dtype=float)
    if x.shape != (system.n,):
        raise ValueError(f"x must have {system.n} values; got shape {x.shape}")
    p = system.parameters(p)
    f, h = system.function("f"), system.function("h")
    here = h(t, x, p)
    system._functions["h"].check_shape(system.sizes, here, t, x)
    word = np.where(here >= 0, 1.0, -1.0)
    system._functions["f"].check_shape(system.sizes, f(t, x, word, p), t, x)
    report = Report()
    _check_jacobians(system, report, t, x, word, p, tol)
    _check_signs(report, f, t, x, word, p)
    _check_words(system, report, f, h, t, x, word, p, here, guards)
    return report


def normalised(system, eps, x, p=None, t=0.0, **options):
    """The paper's normalisation: factors ``eps / mu_k`` by which to multiply h_k, so that bands of width eps suit all guards.

    ``mu_k`` is the largest |hdot_k| found by `check` at x. With h scaled so, a trajectory takes about the same time, 1,
    to cross each unit of h/eps; equivalently, give ``solve(..., eps=mu_k * time)`` for the unscaled guards.
    """
    if not eps > 0:
        raise ValueError(f"eps must be positive; got {eps!r}")
    speeds = check(system, x, p, t, **options).speeds
    return eps / np.where(speeds > 0, speeds, 1.0)


def _differences(function, x):
    """Central differences of a function of a vector, (outputs, len(x))."""
    columns = []
    for i in range(x.size):
        step = 6e-6 * max(1.0, abs(x[i]))
        ahead, behind = x.copy(), x.copy()
        ahead[i] += step
        behind[i] -= step
        columns.append((function(ahead) - function(behind)) / (ahead[i] - behind[i]))
    return np.array(columns).T if columns else np.zeros((np.size(function(x)), 0))


def _check_jacobians(system, report, t, x, word, p, tol):
    f, h = system.function("f"), system.function("h")
    step = 1e-6 * max(1.0, abs(t))
    wanted = {
        "Dh": lambda: _differences(lambda y: h(t, y, p), x),
        "Df": lambda: _differences(lambda y: f(t, y, word, p), x),
        "Dt_h": lambda: (h(t + step, x, p) - h(t - step, x, p)) / (2 * step),
        "Dp_f": lambda: _differences(lambda q: f(t, x, word, q), p),
        "Dp_h": lambda: _differences(lambda q: h(t, x, q), p),
    }
    for name, differences in wanted.items():
        given = system.function(name)
        if given is None:
            continue
        values = given(t, x, word, p) if name in ("Df", "Dp_f") else given(t, x, p)
        system._functions[name].check_shape(system.sizes, values, t, x)
        _compare(report, name, values, differences(), tol)
    if system.has("Dh_row"):
        row = system.function("Dh_row")
        rows = np.array([row(t, x, k, p) for k in range(system.m)]).reshape(system.m, system.n)
        _compare(report, "Dh_row", rows, wanted["Dh"](), tol)
    if system.has("g"):
        f0, g = system.function("f0"), system.function("g")
        for signs in (word, np.ones(system.m)):
            total = f0(t, x, p) + sum((g(t, x, k, p) for k in np.flatnonzero(signs > 0)), np.zeros(system.n))
            _compare(report, "f0 + sum of g", total, f(t, x, signs, p), tol)
        if system.has("g_many") and system.m > 0:
            every = np.arange(system.m, dtype=np.int64)
            columns = np.array([g(t, x, k, p) for k in every]).T
            _compare(report, "g_many", system.function("g_many")(t, x, every, p), columns, tol)


def _compare(report, name, given, wanted, tol):
    scale = max(np.abs(wanted).max(initial=0.0), np.abs(given).max(initial=0.0), 1e-12)
    difference = np.abs(np.asarray(given) - wanted)
    error = float(difference.max(initial=0.0) / scale)
    report.jacobians[name] = max(error, report.jacobians.get(name, 0.0))
    if not error <= tol:
        index = tuple(int(i) for i in np.unravel_index(np.nanargmax(difference), difference.shape))
        report.problems.append(
            f"{name} differs from the differences of {'f' if name.endswith(('f', 'g')) else 'h'}: element {list(index)} is "
            f"{np.asarray(given)[index]:.6g}, should be {wanted[index]:.6g}"
        )


def _check_signs(report, f, t, x, word, p):
    if not word.size:
        return
    base = f(t, x, word, p)
    for scale in (0.5, 3.0):
        other = f(t, x, scale * word, p)
        if not np.allclose(base, other, rtol=1e-12, atol=1e-12 * max(1.0, np.abs(base).max(initial=0.0))):
            report.depends_on_signs_only = False
    if not report.depends_on_signs_only:
        report.notes.append(
            "f changes when b is scaled: fine if it uses b as -1 and +1, but the paper asks for signs only"
        )


def _check_words(system, report, f, h, t, x, word, p, here, guards):
    if not system.m:
        return
    step = 1e-7 * max(1.0, np.abs(x).max()) / max(np.abs(f(t, x, word, p)).max(), 1e-9)
    flow = [k for k in range(system.m) if not system.observers[k]]
    speeds0 = np.abs(h(t + step, x + step * f(t, x, word, p), p) - here) / step
    if guards is None:
        near = sorted(flow, key=lambda k: abs(here[k]) / max(speeds0[k], 1e-300))[:MOST_GUARDS]
        if len(flow) > MOST_GUARDS:
            report.notes.append(f"words of the {MOST_GUARDS} guards nearest to x tried, of {len(flow)}")
    else:
        near = [system.guard_index(k) for k in guards]
    found, words = [], []
    for signs in product((-1.0, 1.0), repeat=len(near)):
        candidate = word.copy()
        candidate[near] = signs
        rate = f(t, x, candidate, p)
        found.append((h(t + step, x + step * rate, p) - h(t - step, x - step * rate, p)) / (2 * step))
        words.append(candidate)
    rates = np.array(found)
    report.speeds = np.abs(rates).max(axis=0)
    # a guard is crossed for good if hdot has the same sign under every word: that of the word it is approached under
    for k in near:
        sign = np.sign(rates[:, k].sum()) or 1.0
        relative = sign * rates[:, k] / max(report.speeds[k], 1e-300)
        q = int(np.argmin(relative))
        if relative[q] < report.margin:
            report.margin, report.worst = float(relative[q]), (system.guards[k], words[q].astype(int))
    if report.margin <= 0:
        guard, candidate = report.worst
        report.problems.append(
            f"not event-selected around x: hdot of guard {guard!r} changes sign between words (relative margin "
            f"{report.margin:.3g}, under {np.array2string(candidate, threshold=12)}); it matters where these guards meet"
        )
