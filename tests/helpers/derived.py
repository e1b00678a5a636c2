"""The plate and the hexapod, derived with SymPy from the positions of their contacts, independently of the models."""

import sympy
from sympy.physics.mechanics import KanesMethod, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

import bouligand as bd

t = dynamicsymbols._t


def plate(contacts, **options):
    """A line at (x, z), turned by theta, on springs whose tops are at (s_i, L0)."""
    x, z, theta, vx, vz, omega = states = dynamicsymbols("x z theta vx vz omega")
    g, mass, turning, rest, k, c = sympy.symbols("g mass inertia L0 k c")
    places = sympy.symbols(f"s:{contacts}")
    sides = sympy.symbols(f"b:{contacts}")
    normal = sympy.Matrix([-sympy.sin(theta), sympy.cos(theta)])
    force, moment = sympy.zeros(2, 1), 0
    guards = {}
    for i, (s, b) in enumerate(zip(places, sides, strict=True)):
        arm = sympy.Matrix([s - x, (s - x) * sympy.tan(theta)])  # from the centre to the point of the line above s
        depth = rest - (z + arm[1])
        guards[f"spring{i}"] = depth
        push = (1 + b) / 2 * (k * depth + c * depth.diff(t))
        force += push * normal
        moment += push * (arm[0] * normal[1] - arm[1] * normal[0])
    rates = [vx, vz, omega, force[0] / mass, force[1] / mass - g, moment / turning]
    model = bd.models.plate(contacts)
    values = dict(zip((g, mass, turning, rest, k, c, *places), model.defaults, strict=True))
    return bd.bridges.sympy.system(states, rates, guards, values, sides=sides, **options)


def kane_of_hexapod():
    """KanesMethod of a free body with a force at each of six feet that turn with a clock; guards, sides and parameters."""
    q = dynamicsymbols("x y z roll pitch yaw")
    u = dynamicsymbols("vx vy vz wx wy wz")
    g, mass, ix, iy, iz, length, width, leg, k, c, mu, slip, period, swing, phase = names = sympy.symbols(
        "g mass Ix Iy Iz length width leg k c mu slip period swing phase"
    )
    ground, body = ReferenceFrame("N"), ReferenceFrame("B")
    body.orient_body_fixed(ground, (q[5], q[4], q[3]), "ZYX")
    kinematic = [q[i].diff(t) - u[i] for i in range(3)]
    spin = body.ang_vel_in(ground)
    kinematic += [spin.dot(axis) - u[3 + i] for i, axis in enumerate(body)]
    origin = Point("O")
    origin.set_vel(ground, 0)
    centre = origin.locatenew("C", sum((q[i] * axis for i, axis in enumerate(ground)), 0 * ground.x))
    centre.set_vel(ground, sum((u[i] * axis for i, axis in enumerate(ground)), 0 * ground.x))
    rate = sum((u[3 + i] * axis for i, axis in enumerate(body)), 0 * body.x)
    body.set_ang_vel(ground, rate)
    loads = [(centre, -mass * g * ground.z)]
    guards, sides = {}, sympy.symbols("b:6")
    places = {
        "front left": (1, 1, 0),
        "middle right": (0, -2, 0),
        "rear left": (-1, 1, 0),
        "front right": (1, -1, 1),
        "middle left": (0, 2, 1),
        "rear right": (-1, -1, 1),
    }
    for side, (name, (along, across, tripod)) in zip(sides, places.items(), strict=True):
        turn = 2 * sympy.pi * t / period + phase + sympy.pi * tripod
        angle = turn - swing * sympy.sin(turn)
        in_body = (
            length * along * body.x
            + width * across * body.y
            - leg * (sympy.sin(angle) * body.x + sympy.cos(angle) * body.z)
        )
        foot = centre.locatenew(name.replace(" ", "_"), in_body)
        foot.set_vel(ground, centre.vel(ground) + in_body.dt(body) + rate.cross(in_body))
        velocity = foot.vel(ground).express(ground)
        depth = -foot.pos_from(origin).dot(ground.z)
        push = k * depth - c * velocity.dot(ground.z)
        over = velocity - velocity.dot(ground.z) * ground.z
        drag = -mu * push / sympy.sqrt(over.dot(ground.x) ** 2 + over.dot(ground.y) ** 2 + slip**2) * over
        loads.append((foot, (1 + side) / 2 * (push * ground.z + drag)))
        guards[name] = depth
    robot = RigidBody("robot", centre, body, mass, (inertia(body, ix, iy, iz), centre))
    kane = KanesMethod(ground, q_ind=q, u_ind=u, kd_eqs=kinematic)
    kane.kanes_equations([robot], loads)
    values = dict(zip(names, bd.models.hexapod().defaults, strict=True))
    return kane, guards, values, sides


def hexapod(**options):
    kane, guards, values, sides = kane_of_hexapod()
    return bd.bridges.sympy.from_kane(kane, guards, values, sides=sides, **options)
