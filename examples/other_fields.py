"""A picture of each model from other fields: genes, economics, ecology, neurons, circuits, power systems, gears.

python examples/other_fields.py [folder for the figure]
"""

import pathlib
import sys

import matplotlib.pyplot as plt
import numpy as np

import bouligand as bd

BLUE, RED, ORANGE, GREY = "#33508c", "#c1272d", "#e08a1e", "#8c8c8c"
MODELS = bd.models.available()


def run(name, size=None, tf=None, **arguments):
    system, x0 = MODELS[name].build(size)
    return bd.solve(system, (0.0, tf or MODELS[name].tf), x0, rtol=1e-8, **arguments)


def over_time(ax, sol, states, colours=(BLUE, RED, ORANGE), labels=None, points=3000):
    """Some states over time, with a grey line at each event."""
    t = np.linspace(sol.t[0], sol.t[-1], points)
    for state, colour, label in zip(states, colours, labels or states, strict=False):
        ax.plot(t, sol(t)[:, sol.system.states.index(state)], color=colour, lw=1.2, label=label)
    for when in np.unique(sol.events.t):
        ax.axvline(when, color=GREY, lw=0.4, zorder=0)
    ax.set_xlim(sol.t[0], sol.t[-1])
    if len(states) > 1:
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.2 * (high - low))  # (room for the legend above the curves)
        ax.legend(fontsize="small", ncols=3, loc="upper left", columnspacing=1.0, handlelength=1.2)


def genes(ax):
    over_time(ax, run("glass_ring", 5, 14.0), ("x0", "x1", "x2"), labels=("gene 0", "gene 1", "gene 2"))
    ax.set(title="glass_ring: three of five genes in a ring", xlabel="time")


def cycle(ax):
    sol = run("goodwin")
    t = np.linspace(0.0, 40.0, 4000)
    ax.plot(*sol(t).T, color=BLUE, lw=1.0)
    ax.plot(*sol.events.x.T, "o", color=RED, ms=3, label="floor or ceiling of investment")
    ax.set(title="goodwin: a business cycle (red: limits)", xlabel="income y", ylabel="growth y'")


def trade(ax):
    over_time(ax, run("hicks"), ("y", "I"), labels=("output", "induced investment"))
    ax.set(title="hicks: a cycle along its ceiling", xlabel="time")


def fish(ax):
    over_time(ax, run("threshold_harvest"), ("x", "yield"), labels=("stock", "yield"))
    ax.set(title="threshold_harvest: the stock stays at 0.5", xlabel="time (years)")


def predators(ax):
    t = np.linspace(0.0, 30.0, 3000)
    for start in ((1.0, 0.3), (3.0, 0.2), (0.5, 1.1), (2.6, 1.0)):
        sol = bd.solve(bd.models.predator_prey(), (0.0, 30.0), start, rtol=1e-8)
        ax.plot(*sol(t).T, color=BLUE, lw=1.0)
        ax.plot(*sol(t)[sol.word(t)[:, 0] == 0].T, color=RED, lw=2.0)
    ax.set(title="predator_prey: hunted (red: sliding)", xlabel="prey", ylabel="predators")


def spikes(ax):
    over_time(ax, run("adex"), ("V0",), labels=("potential",))
    ax.set(title="adex: a neuron that adapts", xlabel="time (ms)", ylabel="potential (mV)")


def network(ax):
    sol = run("cuba", 60, 150.0)
    fired = sol.events.guard < 60
    ax.plot(sol.events.t[fired], sol.events.guard[fired], "|", color=BLUE, ms=4)
    ax.set(title="cuba: 60 neurons, their spikes", xlabel="time (ms)", ylabel="neuron")


def scroll(ax):
    sol = run("chua", tf=100.0)
    t = np.linspace(0.0, 100.0, 12000)
    ax.plot(sol(t)[:, 0], sol(t)[:, 1], color=BLUE, lw=0.5)
    for wall in (-1.0, 1.0):
        ax.axvline(wall, color=GREY, lw=0.8)
    ax.set(title="chua: the double scroll", xlabel="x", ylabel="y")


def generator(ax):
    from bouligand.models.swing import START, critical_time

    t = np.linspace(0.0, 1.5, 2000)
    for factor, colour in ((0.9, BLUE), (0.99, ORANGE), (1.01, RED)):
        sol = bd.solve(bd.models.swing(clearing=factor * critical_time(), trip=3.0), (0.0, 1.5), START, rtol=1e-9)
        ax.plot(t, sol(t)[:, 0], color=colour, lw=1.2, label=f"{factor:.2f} critical times")
    ax.legend(fontsize="small")
    ax.set(title="swing: a generator after a short circuit", xlabel="time (s)", ylabel="angle (rad)", ylim=(0.0, 3.2))


def frequency(ax):
    over_time(ax, run("load_shedding"), ("f",), labels=("frequency (Hz), pairs of relays",))
    ax.set(title="load_shedding: three pairs of relays", xlabel="time (s)", ylabel="frequency (Hz)")


def regulator(ax):
    over_time(ax, run("exciter"), ("V", "E"), labels=("voltage", "exciter, at most 4"))
    ax.set(title="exciter: a limit without windup", xlabel="time (s)", ylabel="per unit")


def transformer(ax):
    from bouligand.models.tap_changer import voltage

    sol = run("tap_changer", tf=300.0)
    t = np.linspace(0.0, 300.0, 3000)
    ax.plot(t, [voltage(n, G, 0.95, 0.3) for G, n, _ in sol(t)], color=BLUE, lw=1.2)
    ax.axhspan(0.98, 1.02, color=GREY, alpha=0.25, lw=0.0)
    ax.set(title="tap_changer: steps into the dead band", xlabel="time (s)", ylabel="voltage (per unit)")


def rattle(ax):
    sol = run("gear_rattle")
    t = np.linspace(0.0, 20.0, 3000)
    teeth = np.sin(t)
    ax.plot(t, teeth + sol(t)[:, 0], color=BLUE, lw=1.2)
    ax.plot(t, teeth - 2.0, color=GREY, lw=1.0)
    ax.plot(t, teeth + 2.0, color=GREY, lw=1.0)
    ax.set(title="gear_rattle: between teeth that vibrate", xlabel="time (s)", ylabel="position (mm)")


def balls(ax):
    sol = run("ball_row", 6)
    t = np.linspace(0.0, 4.0, 2000)
    ax.plot(t, sol(t)[:, :6], color=BLUE, lw=1.2)
    ax.set(title="ball_row: they exchange their speeds", xlabel="time (s)", ylabel="position (m)")


def relays(ax):
    over_time(ax, run("two_relays"), ("x", "y"))
    ax.set(title="two_relays: sliding on both", xlabel="time")


PANELS = (
    *(genes, cycle, trade, fish, predators),
    *(spikes, network, scroll, generator, frequency),
    *(regulator, transformer, rattle, balls, relays),
)


def main(folder="results/gallery"):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    plt.switch_backend("agg")
    plt.style.use(bd.plot.STYLE)
    figure, axes = plt.subplots(5, 3, figsize=(10.8, 14.4), layout="constrained")
    for ax, panel in zip(axes.flat, PANELS, strict=True):
        panel(ax)
        ax.title.set_fontsize("medium")
    figure.savefig(folder / "other_fields.png", dpi=90)
    plt.close(figure)
    print(f"figure: {folder / 'other_fields.png'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
