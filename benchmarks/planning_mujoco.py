"""The route that is usual today, as a peer: iLQR with MuJoCo's own contacts, steps and finite differences (`mjd_transitionFD`).

A node is a step of 5 ms with controls of its own. The backward pass, the box limits and the line search are those of
`bouligand.planning`; only dynamics and derivatives are MuJoCo's.
"""

import time

import mujoco
import numpy as np

from bouligand.planning.backward import backward
from bouligand.planning.costs import Expansion
from bouligand.planning.ilqr import ARMIJO, CUT, MU_FACTOR, MU_LEAST, SHORT, SHORTEST, TRIES

EPS = 1e-6


class MuJoCoPlan:
    """A horizon of MuJoCo steps with a quadratic cost in tangent coordinates (2 nv) and controls."""

    def __init__(self, file, steps, target, weights, by_u, rest, limits, end=1.0):
        self.model = mujoco.MjModel.from_xml_path(str(file))
        self.data = mujoco.MjData(self.model)
        self.steps, self.target, self.W, self.R = steps, target, weights, by_u
        self.rest, self.limits, self.end = rest, limits, end
        self.nq, self.nv, self.nu = self.model.nq, self.model.nv, self.model.nu
        self.h = self.model.opt.timestep
        self.start()

    def start(self):
        """Forget what iterations have learned."""
        self.mu, self.length, self.maps = 0.0, 1.0, None

    def difference(self, x, y):
        """x - y in tangent coordinates."""
        out = np.empty(2 * self.nv)
        mujoco.mj_differentiatePos(self.model, out[: self.nv], 1.0, y[: self.nq], x[: self.nq])
        out[self.nv :] = x[self.nq :] - y[self.nq :]
        return out

    def put(self, x):
        data = self.data
        data.qpos[:], data.qvel[:] = x[: self.nq], x[self.nq :]
        data.qacc_warmstart[:] = 0.0

    def rollout(self, x0, policy):
        X, U = np.empty((self.steps + 1, self.nq + self.nv)), np.empty((self.steps, self.nu))
        X[0] = x0
        self.put(x0)
        for k in range(self.steps):
            self.data.ctrl[:] = U[k] = policy(k, X[k])
            mujoco.mj_step(self.model, self.data)
            X[k + 1, : self.nq], X[k + 1, self.nq :] = self.data.qpos, self.data.qvel
        return X, U

    def errors(self, X):
        return np.array([self.difference(x, self.target) for x in X])

    def cost(self, X, U):
        e, v = self.errors(X), U - self.rest
        total = 0.5 * self.h * ((e[:-1] ** 2 @ self.W).sum() + (v**2 @ self.R).sum())
        return float(total + 0.5 * self.end * (e[-1] ** 2 @ self.W))

    def linearise(self, X, U):
        A, B = np.empty((self.steps, 2 * self.nv, 2 * self.nv)), np.empty((self.steps, 2 * self.nv, self.nu))
        for k in range(self.steps):
            self.put(X[k])
            self.data.ctrl[:] = U[k]
            mujoco.mjd_transitionFD(self.model, self.data, EPS, 0, A[k], B[k], None, None)
        return A, B

    def iterate(self, x0, X, U, cost):
        """One iteration; returns the new X, U, cost, and the seconds of derivatives, backward pass and rollouts."""
        clock = time.thread_time
        began = clock()
        if self.maps is None:
            self.maps = self.linearise(X, U)
        derived = clock()
        e, n = self.errors(X), 2 * self.nv
        xx = np.broadcast_to(self.h * np.diag(self.W), (self.steps, n, n))
        uu = np.broadcast_to(self.h * np.diag(self.R), (self.steps, self.nu, self.nu))
        l = Expansion(
            self.h * e[:-1] * self.W, self.h * (U - self.rest) * self.R, xx, np.zeros((self.steps, self.nu, n)), uu
        )
        scale = self.h * float(self.R.mean())
        end = self.end * e[-1] * self.W, self.end * np.diag(self.W)
        while (found := backward(*self.maps, l, end, U, self.limits, self.mu * scale)) is None:
            self.mu = max(MU_FACTOR * self.mu, MU_LEAST)
        backed = clock()
        for _ in range(TRIES):
            alpha = self.length

            def policy(k, x, alpha=alpha, X=X, U=U):
                return np.clip(U[k] + alpha * found.d[k] + found.K[k] @ self.difference(x, X[k]), *self.limits)

            newX, newU = self.rollout(x0, policy)
            new = self.cost(newX, newU)
            if new <= cost + ARMIJO * found.expected(alpha):
                X, U, cost, self.maps = newX, newU, new, None
                self.length = 1.0
                if alpha < SHORT:
                    self.mu = max(self.mu * MU_FACTOR, MU_LEAST)
                elif alpha == 1.0:
                    self.mu = self.mu / MU_FACTOR if self.mu > MU_LEAST else 0.0
                break
            self.length *= CUT
        if self.length < SHORTEST:
            self.length, self.mu = 1.0, max(self.mu * MU_FACTOR**2, MU_LEAST)
        rolled = clock()
        return X, U, cost, (derived - began, backed - derived, rolled - backed)
