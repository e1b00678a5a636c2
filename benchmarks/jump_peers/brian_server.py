"""Brian2 in an environment of its own: a program that answers requests, one JSON object a line (see `brian_spikes`).

It needs Brian2 and NumPy below 2.3, and nothing of this repository. {"build": "adex", "method": "rk4", "dt": 0.01} prepares
a run; {"run": number} runs it and answers with its seconds, spike times (ms) and the state at the end.
"""

import json
import sys
import time

import brian2 as b2
import numpy as np

b2.prefs.logging.console_log_level = "ERROR"


def adex(method, dt):
    """The neuron of Brette and Gerstner (2005), as in Brian2's own example."""
    space = {
        **{"C": 281 * b2.pF, "gL": 30 * b2.nS, "EL": -70.6 * b2.mV, "VT": -50.4 * b2.mV, "DeltaT": 2 * b2.mV},
        **{"tauw": 144 * b2.ms, "a": 4 * b2.nS, "b": 80.5 * b2.pA, "Vr": -70.6 * b2.mV, "Vcut": -40.4 * b2.mV},
        "I": 1000 * b2.pA,
    }
    equations = """
    dV/dt = (gL*(EL - V) + gL*DeltaT*exp((V - VT)/DeltaT) + I - w)/C : volt
    dw/dt = (a*(V - EL) - w)/tauw : amp
    """
    group = b2.NeuronGroup(
        1, equations, threshold="V > Vcut", reset="V = Vr; w += b", method=method, namespace=space, dt=dt * b2.ms
    )
    group.V = -70.6 * b2.mV
    spikes = b2.SpikeMonitor(group)
    network = b2.Network(group, spikes)
    network.store()

    def run():
        network.restore()
        began = time.perf_counter()
        network.run(100 * b2.ms)
        took = time.perf_counter() - began
        return took, np.sort(spikes.t / b2.ms), [group.V[0] / b2.mV, group.w[0] / b2.pA]

    return run


def main():
    runs = []
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if "build" in asked:
                runs.append(adex(asked["method"], asked["dt"]))
                answer = {"number": len(runs) - 1}
            elif "version" in asked:
                answer = {"version": b2.__version__}
            else:
                took, times, end = runs[asked["run"]]()
                answer = {"seconds": took, "times": list(map(float, times)), "end": list(map(float, end))}
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"[:200]}
        print("answer " + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
