"""MuJoCo's models for the paper's comparisons: the hopper, and the plate in the two ways in which a MuJoCo user would build it.

`hopper`: a slide joint, and a fixed tendon with a spring deadband as the unilateral spring: the exact law.

`pads`: every spring carries a small pad on a slide joint, which touches the plate without friction. The pads have mass (0.02 in
all: lighter ones are unstable at 2 ms), push along the plate's normal so that their vertical force is the spring's, and
cannot pull.

`soft`: the supports are fixed, and the contact itself is the spring: direct stiffness and damping (negative solref) at the
smallest impedance MuJoCo allows (1e-4; with more, the load's own acceleration enters the force). Depth and force are along
the plate's normal, and the contact cannot pull. The cheapest plate: three degrees of freedom.

Of its solvers, CG is the fastest on both (Newton and PGS give the same motion). Both plates are a thick box whose lower
face passes through the centre of mass, longer than the bed, with the mass and inertia of the model. State for state they
are (x, z, theta, vx, vz, omega), as in `models.plate`.
"""

import numpy as np

from .._optional import need
from ..models.plate import LENGTH

DT = 0.002  # the paper's, and MuJoCo's default
RADIUS = 0.01  # of the spheres that touch the plate
PAD_MASS = 0.02

HOPPER = """
<mujoco>
  <option timestep="{dt}" gravity="0 0 -9.81"/>
  <worldbody>
    {bodies}
  </worldbody>
  <tendon>
    {tendons}
  </tendon>
</mujoco>
"""

BALL = """<body>
      <joint name="z{i}" type="slide" axis="0 0 1"/>
      <geom type="sphere" size="0.1" mass="1" contype="0" conaffinity="0"/>
    </body>"""

SPRING = '<fixed springlength="1 1000" stiffness="1000"><joint joint="z{i}" coef="1"/></fixed>'

PLATE = """
<mujoco>
  <compiler inertiafromgeom="false"/>
  <option timestep="{dt}" gravity="0 0 -9.81" solver="CG"><flag eulerdamp="disable"/></option>
  <default><geom condim="1" solref="{solref}" solimp="{solimp}"/></default>
  <worldbody>
    {supports}
    <body name="plate">
      <joint type="slide" axis="1 0 0"/>
      <joint type="slide" axis="0 0 1"/>
      <joint type="hinge" axis="0 -1 0"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 {inertia} 1"/>
      <geom type="box" size="3 0.5 1" pos="0 0 1" contype="0" conaffinity="1"/>
    </body>
  </worldbody>
</mujoco>
"""

PAD = """<body pos="{s} 0 {z}">
      <joint type="slide" axis="0 0 1" stiffness="{k}" damping="{c}" springref="{sag}"/>
      <inertial pos="0 0 0" mass="{mass}" diaginertia="1 1 1"/>
      <geom type="sphere" size="{radius}" contype="1" conaffinity="0"/>
    </body>"""

SUPPORT = '<geom type="sphere" size="{radius}" pos="{s} 0 {z}" contype="1" conaffinity="0"/>'


def hopper(dt=DT, count=1):
    """The hopper, or several beside each other, as a MuJoCo model."""
    bodies = "\n    ".join(BALL.format(i=i) for i in range(count))
    tendons = "\n    ".join(SPRING.format(i=i) for i in range(count))
    return need("mujoco", "mujoco").MjModel.from_xml_string(HOPPER.format(dt=dt, bodies=bodies, tendons=tendons))


def pads(contacts, dt=DT, stiffness=2000.0, damping=5.0):
    """The plate on spring-loaded pads."""
    return need("mujoco", "mujoco").MjModel.from_xml_string(pads_xml(contacts, dt, stiffness, damping))


def pads_xml(contacts, dt=DT, stiffness=2000.0, damping=5.0):
    mass, k, c = PAD_MASS / contacts, stiffness / contacts, damping / contacts
    supports = "\n    ".join(
        # the springs are a little longer, so that the pads' weight brings their tops to the height of the model's
        PAD.format(s=s, z=1 - RADIUS, k=k, c=c, sag=mass * 9.81 / k, mass=mass, radius=RADIUS)
        for s in _positions(contacts)
    )
    return PLATE.format(dt=dt, solref="0.004 1", solimp="0.9 0.95 0.001", supports=supports, inertia=_inertia())


def soft(contacts, dt=DT, stiffness=2000.0, damping=5.0):
    """The plate on fixed supports with MuJoCo's own compliant contact."""
    return need("mujoco", "mujoco").MjModel.from_xml_string(soft_xml(contacts, dt, stiffness, damping))


def soft_xml(contacts, dt=DT, stiffness=2000.0, damping=5.0):
    # MuJoCo divides by the plate's mean inverse mass: that of x, y and z, of which y cannot move
    weight = 2 / 3
    solref = f"{-stiffness / contacts * weight} {-damping / contacts * weight}"
    supports = "\n    ".join(SUPPORT.format(s=s, z=1 - RADIUS, radius=RADIUS) for s in _positions(contacts))
    return PLATE.format(dt=dt, solref=solref, solimp="0.0001 0.0001 0.001", supports=supports, inertia=_inertia())


class Stepping:
    """A MuJoCo model run from a start, by its own C loop over steps. The last degrees of freedom are the state."""

    def __init__(self, model, x0, tf):
        self.mujoco = need("mujoco", "mujoco")
        self.model, self.data = model, self.mujoco.MjData(model)
        self.steps = round(tf / model.opt.timestep)
        self.start(x0)

    def start(self, x0):
        x0 = np.asarray(x0, dtype=float)
        self._q, self._v = x0[: len(x0) // 2], x0[len(x0) // 2 :]

    def reset(self):
        self.mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[-len(self._q) :] = self._q
        self.data.qvel[-len(self._v) :] = self._v

    def state(self):
        return np.r_[self.data.qpos[-len(self._q) :], self.data.qvel[-len(self._v) :]]

    def run(self):
        """To the end in one call; the state there."""
        self.reset()
        self.mujoco.mj_step(self.model, self.data, nstep=self.steps)
        return self.state()

    def unstable(self):
        """Whether MuJoCo had to reset this run because its accelerations exploded (it does so without an error)."""
        bad = (self.mujoco.mjtWarning.mjWARN_BADQACC, self.mujoco.mjtWarning.mjWARN_BADQPOS)
        return any(self.data.warning[int(kind)].number > 0 for kind in bad)

    def sample(self, count):
        """States at ``count`` equal intervals, (count, n); the steps must fit into them."""
        if self.steps % count:
            raise ValueError(f"{self.steps} steps cannot be divided into {count} intervals")
        self.reset()
        out = np.empty((count, 2 * len(self._q)))
        for row in out:
            self.mujoco.mj_step(self.model, self.data, nstep=self.steps // count)
            row[:] = self.state()
        return out


def converged(model, x0, times, tolerance=1e-10):
    """The motion under the model's own law as the step goes to zero: states at the times.

    MuJoCo's accelerations (mj_forward) integrated by DOP853 with error control: whatever the contact law is, including impedance
    and the masses of the pads, this is its solution.
    """
    from scipy.integrate import solve_ivp

    mujoco = need("mujoco", "mujoco")
    stepping = Stepping(model, x0, times[-1])
    stepping.reset()
    data, nq, n = stepping.data, model.nq, len(x0) // 2
    usual = model.opt.tolerance, model.opt.iterations, model.opt.solver
    model.opt.tolerance, model.opt.iterations, model.opt.solver = 1e-15, 200, mujoco.mjtSolver.mjSOL_NEWTON

    def field(t, y):
        data.qpos[:], data.qvel[:] = y[:nq], y[nq:]
        mujoco.mj_forward(model, data)
        return np.r_[data.qvel, data.qacc]

    try:
        sol = solve_ivp(
            field,
            (0.0, times[-1]),
            np.r_[data.qpos, data.qvel],
            method="DOP853",
            rtol=tolerance,
            atol=tolerance,
            t_eval=times,
            max_step=DT,  # a step in free flight must not fly through the bed
        )
    finally:
        model.opt.tolerance, model.opt.iterations, model.opt.solver = usual
    if not sol.success:
        raise RuntimeError(f"the reference of MuJoCo's law failed: {sol.message}")
    y = sol.y.T
    return np.c_[y[:, nq - n : nq], y[:, 2 * nq - n :]]


def _positions(contacts):
    return np.linspace(-LENGTH / 2, LENGTH / 2, contacts) if contacts > 1 else np.zeros(1)


def _inertia():
    return LENGTH**2 / 12
