"""What every peer is given: the same fields, guards, starts and times, and the answers to compare with.

Three kinds, each with any number of guards: independent `balls` on springs (one is the hopper), the `plate`, and
`oscillators`. Peers that take functions get these compiled ones; the others write the same law in their own language.
"""

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numba import njit

import bouligand as bd
from bouligand.models.hopper import exact as hopper_exact
from bouligand.models.oscillators import field as oscillators_field
from bouligand.models.oscillators import guards as oscillators_guards
from bouligand.models.oscillators import path as oscillators_path
from bouligand.models.plate import FIXED, START
from bouligand.models.plate import field as plate_field
from bouligand.models.plate import guards as plate_guards

SAMPLES = 1000
FAST = {"reassoc", "nsz", "contract"}  # sums in any order, as in the library's own plate


def ball_field(t, x, b, p, dx):
    m = b.size
    for i in range(m):
        z = x[i]
        dx[i] = x[m + i]
        dx[m + i] = (p[1] * (p[2] - z) if b[i] > 0.0 else 0.0) - p[0]


def ball_guards(t, x, p, out):
    for i in range(out.size):
        out[i] = p[2] - x[i]


FIELDS = {"balls": ball_field, "plate": plate_field, "oscillators": oscillators_field}
GUARDS = {"balls": ball_guards, "plate": plate_guards, "oscillators": oscillators_guards}


@cache
def compiled(kind):
    """Field and guards of a kind of problem; compiled once, as a user would."""
    build = njit(nogil=True, error_model="numpy", fastmath=FAST)
    return build(FIELDS[kind]), build(GUARDS[kind])


@dataclass(frozen=True)
class Problem:
    """One problem: a kind, its number of guards, parameters, start and end."""

    key: str
    title: str
    kind: str
    x0: np.ndarray = field(repr=False)
    p: np.ndarray = field(repr=False)
    m: int
    tf: float

    @property
    def n(self):
        return len(self.x0)

    @property
    def max_step(self):
        """Longest step for peers that test for events or contact at the ends of steps: longer ones miss a touch and release."""
        return self.tf if self.kind == "oscillators" else 0.05

    @property
    def most_restarts(self):
        """More than any correct run needs: beyond it is an endless loop."""
        return 200 + 20 * self.m

    @property
    def times(self):
        return np.linspace(0.0, self.tf, SAMPLES + 1)[1:]

    @property
    def positions(self):
        """Where the plate's springs stand, in the order in which the guards are listed."""
        return self.p[FIXED:]

    @property
    def compiled(self):
        """(f, h) as compiled functions, ``f(t, x, b, p, dx)`` and ``h(t, x, p, out)``."""
        return compiled(self.kind)

    def word0(self):
        """The side of every guard at the start, -1.0 or +1.0."""
        out = np.empty(self.m)
        GUARDS[self.kind](0.0, self.x0, self.p, out)
        return np.where(out > 0.0, 1.0, -1.0)

    def system(self):
        """As a system of ours, as a user would get it."""
        if self.kind == "plate":
            return bd.models.plate(positions=self.positions)
        if self.kind == "oscillators":
            return bd.models.oscillators(self.m, *self.p)
        if self.m == 1:
            return bd.models.hopper()
        return bd.System(ball_field, ball_guards, n=self.n, m=self.m, params=self.p)

    def reference(self):
        """States at the times: exact where that is known, else our own at a tolerance of 1e-12 (checked against heyoka)."""
        if self.kind == "balls":
            paths = [hopper_exact(self.times, z0) for z0 in self.x0[: self.m]]
            return np.hstack([path[:, :1] for path in paths] + [path[:, 1:] for path in paths])
        if self.kind == "oscillators":
            paths = [oscillators_path(self.times, q, v, *self.p) for q, v in zip(*np.split(self.x0, 2), strict=True)]
            return np.hstack([path[:, :1] for path in paths] + [path[:, 1:] for path in paths])
        span = (0.0, self.tf)
        return bd.solve(self.system(), span, self.x0, t_eval=self.times, rtol=1e-12, atol=1e-14, method="dop853").x

    def reordered(self):
        """The same with its guards listed backwards, and the numbers of the states in the old order."""
        if self.kind == "plate":
            p = self.p.copy()
            p[FIXED:] = self.positions[::-1]
            return replace(self, p=p), np.arange(self.n)
        back = np.arange(self.n).reshape(2, -1)[:, ::-1].ravel()
        return replace(self, x0=self.x0[back]), back


def balls(heights, tf=2.0):
    """Balls that fall from these heights, from rest; one from 2 m is the paper's hopper."""
    heights = np.asarray(heights, dtype=float)
    title = "hopper" if len(heights) == 1 else f"{len(heights)} balls"
    x0 = np.r_[heights, np.zeros(len(heights))]
    return Problem(title.replace(" ", "-"), title, "balls", x0, np.array([9.81, 1000.0, 1.0]), len(heights), tf)


def plate(contacts, x0=START, tf=2.0):
    p = bd.models.plate(contacts).defaults
    return Problem(f"plate-{contacts}", f"plate, {contacts} contacts", "plate", np.array(x0), p, contacts, tf)


def oscillators(count, spread=0.05, tf=3.0, seed=5):
    """All reach their guard within ``spread`` seconds of each other, and some come back."""
    rng = np.random.default_rng(seed)
    x0 = np.r_[-0.5 + 0.8 * spread * (rng.random(count) - 0.5), np.full(count, 0.8)]
    title = f"{count} oscillators"
    return Problem(f"oscillators-{count}", title, "oscillators", x0, np.array([0.2, 0.4, 0.5]), count, tf)


def all_problems(quick=False):
    sizes = (2, 8, 32) if quick else (2, 8, 32, 100, 500)
    return [balls([2.0]), *[plate(m) for m in sizes], oscillators(10 if quick else 100)]
