"""Crocoddyl on Solo12, a trot with a fixed contact sequence, on one core: run by `planning.py` in an environment of its own.

python planning_crocoddyl.py SOLO12.URDF
"""

import sys
import time

import crocoddyl
import numpy as np
import pinocchio
from crocoddyl.utils.quadruped import SimpleQuadrupedalGaitProblem

model = pinocchio.buildModelFromUrdf(sys.argv[1], pinocchio.JointModelFreeFlyer())
stance = [angle for side in (1.0, -1.0) for _ in range(2) for angle in (0.0, 0.8 * side, -1.6 * side)]
q0 = np.concatenate([[0.0, 0.0, 0.235, 0.0, 0.0, 0.0, 1.0], stance])
model.referenceConfigurations["standing"] = q0
x0 = np.concatenate([q0, np.zeros(model.nv)])
gait = SimpleQuadrupedalGaitProblem(model, "FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
problem = gait.createTrottingProblem(x0, 0.1, 0.05, 1e-2, 25, 2)
problem.nthreads = 1
solver = crocoddyl.SolverFDDP(problem)
xs, us = [x0] * (problem.T + 1), problem.quasiStatic([x0] * problem.T)
took, began = [], time.thread_time()


class Clock(crocoddyl.CallbackAbstract):
    def __call__(self, solver):
        global began
        took.append(time.thread_time() - began)
        began = time.thread_time()


solver.setCallbacks([Clock()])
for _ in range(5):
    began = time.thread_time()
    solver.solve(xs, us, 20, False)
p50, p99 = 1e3 * np.percentile(took, [50, 99])
print(
    f"Crocoddyl {crocoddyl.__version__}, Solo12 (nv = 18), a trot with a fixed contact sequence, {problem.T} nodes of 10 ms, one "
    f"thread: an iteration p50 {p50:.1f} ms, p99 {p99:.1f} ms (thread time, {len(took)} iterations)"
)
