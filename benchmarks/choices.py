"""What two choices of a user are worth, as docs/method.md says: `g_many` for contacts that share work, and stiff steps for a
system of many states each of which depends on few others."""

import time

import numpy as np

import bouligand as bd
from bouligand.models.plate import START
from bouligand.reporting.timing import interleaved


def without_g_many(system):
    """The same system, whose contacts are evaluated one by one."""
    given = {name: user.given for name, user in system._functions.items() if name != "g_many"}
    params = dict(zip(system.params, system.defaults, strict=True))
    return bd.System(**given, states=system.states, guards=system.guards, params=params)


def contacts(rtol=1e-4, span=(0.0, 2.0)):
    print(f"plate, {span[1]:g} s, rtol = {rtol:g}: ms a solve with g_many, with g alone, and their ratio")
    for count in (100, 500, 2000):
        system = bd.models.plate(count)
        both = system, without_g_many(system)
        times = interleaved([lambda s=s: bd.solve(s, span, START, rtol=rtol) for s in both], clock=time.thread_time)
        print(
            f"  {count:5d} springs {times[0] * 1e3:8.2f} {times[1] * 1e3:8.2f} {times[1] / times[0]:6.1f}", flush=True
        )


def rod(count=500, rtol=1e-4):
    """A rod whose ends are kept cold, and which is heated a little less once its middle is warm."""

    def f(t, x, b, p, dx):
        for i in range(count):
            left = x[i - 1] if i > 0 else 0.0
            right = x[i + 1] if i < count - 1 else 0.0
            dx[i] = p[0] * (left - 2.0 * x[i] + right) + (10.0 if b[0] > 0.0 else 9.0)

    def h(t, x, p, out):
        out[0] = 1.0 - x[count // 2]

    system = bd.System(f, h, n=count, m=1, params={"conduction": float(count + 1) ** 2})
    return system, np.zeros(count), rtol


def stiff(span=(0.0, 0.3)):
    system, x0, rtol = rod()
    print(
        f"heated rod of {system.n} states, {span[1]:g} s, rtol = {rtol:g}: seconds a solve, steps, evaluations of f, events"
    )
    for method in ("stiff", "auto"):
        bd.solve(system, (0.0, 1e-6), x0, rtol=rtol, method=method)  # (compiles)
        began = time.thread_time()
        sol = bd.solve(system, span, x0, rtol=rtol, method=method)
        c = sol.counts
        print(f"  {method:6s} {time.thread_time() - began:8.2f} {c.steps:8d} {c.f:8d} {c.events:4d}", flush=True)


def main():
    contacts()
    stiff()


if __name__ == "__main__":
    main()
