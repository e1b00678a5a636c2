"""ANDES in an environment of its own: a program that answers requests, one JSON object a line (see `benchmarks.zoo`).

It needs ANDES, and nothing of this repository. Two classical machines, one of them with infinite inertia, at the ends of a
line, and a fault at the first bus. {"step": seconds, "tol": Newton's tolerance, "clearing": seconds, "tf": seconds} runs
it, and is answered with the seconds that it took, the number of steps, the angle between the machines at the end, the
largest one, and whether the end was reached.
"""

import json
import sys
import time

import andes
import numpy as np

andes.config_logger(50)
BUS = {"Vn": 100.0, "v0": 1.0, "a0": 0.0}
GENERATOR = {"v0": 1.0, "Vn": 100.0, "Sn": 100.0, "qmax": 99.0, "qmin": -99.0, "pmax": 99.0, "pmin": -99.0}
MACHINE = {"Vn": 100.0, "Sn": 100.0, "D": 0.0, "ra": 0.0, "xl": 0.0}


def run(step, tol, clearing, tf, p):
    system = andes.System(default_config=True, no_output=True)
    for bus in (1, 2):
        system.add("Bus", {"idx": bus, "name": f"bus {bus}", **BUS})
    line = {"idx": "line", "bus1": 1, "bus2": 2, "Vn1": 100.0, "Vn2": 100.0, "r": 0.0, "x": p["line"], "b": 0.0}
    system.add("Line", line)
    system.add("PV", {"idx": "G1", "bus": 1, "p0": p["power"], **GENERATOR})
    system.add("Slack", {"idx": "G2", "bus": 2, "p0": -p["power"], **GENERATOR})
    system.add("GENCLS", {"idx": "M1", "bus": 1, "gen": "G1", "M": 2.0 * p["H"], "xd1": p["machine"], **MACHINE})
    system.add("GENCLS", {"idx": "M2", "bus": 2, "gen": "G2", "M": 2e9, "xd1": p["grid"], **MACHINE})
    system.add("Fault", {"idx": "F", "bus": 1, "tf": 0.1, "tc": 0.1 + clearing, "xf": p["fault"], "rf": 0.0})
    system.setup()
    system.PFlow.run()
    config = system.TDS.config
    config.tf, config.tstep, config.tol, config.no_tqdm, config.criteria = tf, step, tol, 1, 0
    began = time.perf_counter()
    done = bool(system.TDS.run())  # (it may not converge once the machine is out of step)
    took = time.perf_counter() - began
    places = system.GENCLS.delta.a
    angle = np.array([x[places[0]] - x[places[1]] for x in system.dae.ts.x])
    return {"seconds": took, "steps": len(angle), "end": float(angle[-1]), "largest": float(angle.max()), "done": done}


def main():
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = {"version": andes.__version__} if "version" in asked else run(**asked)
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"[:200]}
        print("answer " + json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
