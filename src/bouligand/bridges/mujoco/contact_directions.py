"""Compiled: how the forces of contacts change along a few directions (see `directions`; by each state: `contact_jacobian`)."""

from ...core.compiler.intrinsics import read, read_int, write
from ...core.compiler.jit import core
from . import laws
from . import layout as at
from .contact_jacobian import (
    act_on,
    add_relaxation,
    add_relaxation_parameters,
    add_stop,
    add_stop_parameters,
    arms,
    at_arm,
    at_origin,
    compensation,
    pushes,
    sum_of,
    three_of,
    times,
)
from .law_jacobian import column_of_law, force_by_parameter, force_slopes, numbers_of_laws
from .pair_jacobian import pair_slopes, pair_turn
from .spatial import STILL, cross, of_force, of_motion, plus, vector
from .touching import closing, place, slip


@core(inline=True)
def _of_body(w, q, body):
    """Along direction q: the displacement of a body, and the change of its velocity."""
    last = read_int(read_int(w, at.BODY_LAST_DOF), body)
    if last < 0:
        return STILL, STILL
    row = read_int(w, at.ALONG_DOFS) + 8 * at.ALONG_DOF_DOUBLES * (read_int(w, at.NV) * q + last)
    shift = vector(row + 8 * at.SHIFT)
    carried = of_motion(shift, vector(read_int(w, at.CVEL) + 48 * body))
    return shift, plus(carried, 1.0, vector(row + 8 * at.V_CHANGE))


@core
def _act_along(w, q, body, force, moment, sign):
    """Subtract sign * a change of the spatial force on a body, and that of its moment beside it, from those in ALONG_BODIES."""
    row = read_int(w, at.ALONG_BODIES) + 8 * at.ALONG_BODY_DOUBLES * (read_int(w, at.NBODY) * q + body)
    for i in range(6):
        write(row, i, read(row, i) - sign * force[i])
    for i in range(3):
        write(row, i, read(row, i) - sign * moment[i])


@core
def add_gravity_compensation_along(w, many):
    """Forces on the centres of mass of bodies, which keep their direction."""
    if read_int(w, at.HAS_COMPENSATION) == 0:
        return
    for body in range(1, read_int(w, at.NBODY)):
        if read(read_int(w, at.COMPENSATED), body) != 0.0:
            force, reach = compensation(w, body)
            phi = at_origin(force, reach)
            act_on(w, body, phi, 1.0)
            for q in range(many):
                shift, _ = _of_body(w, q, body)
                _act_along(w, q, body, of_force(shift, phi), cross(force, at_arm(shift, reach)), -1.0)


@core
def add_contacts_along(w, of_x, of_p, x, b, p, out, stride):
    """To BODY_WORK, ALONG_BODIES and FORCES what all contacts of the mode b add, and to ``out`` the rates of their bristles.
    ``of_x``, ``of_p``: the directions of the states and of the parameters (their number is 0 if there are none)."""
    contact, spot, s = read_int(w, at.CONTACTS), read_int(w, at.PLACES), read_int(w, at.SCRATCH)
    for _ in range(read_int(w, at.CONTACT_COUNT)):
        if not pushes(contact, b):
            add_relaxation(of_x, contact, p, out, stride)
            if of_p[2] > 0:
                add_relaxation_parameters(of_p, contact, x, p, out, stride)
        else:
            place(w, x, contact, spot)
            if read_int(contact, at.KIND) != at.LIMIT:
                _add_contact(w, of_x, of_p, x, contact, spot, p, out, stride)
            else:
                depth, rate = read(s, at.DEPTH), closing(w, contact, spot)
                add_stop(w, of_x, contact, spot, depth, rate, p)
                if of_p[2] > 0:
                    add_stop_parameters(w, of_p, contact, spot, depth, rate, p)
        contact, spot = contact + 8 * at.CONTACT_INTS, spot + 8 * at.CONTACT_DOUBLES


@core
def _add_contact(w, of_x, of_p, x, contact, spot, p, out, stride):
    """A contact that pushes and has been placed."""
    s, law, cvel = read_int(w, at.SCRATCH), read_int(w, at.LAW_WORK), read_int(w, at.CVEL)
    one, two = read_int(contact, at.BODY1), read_int(contact, at.BODY2)
    is_pair, bristled = read_int(contact, at.KIND) == at.PAIR, read_int(contact, at.FRICTION) == laws.LUGRE
    if is_pair:
        pair_slopes(w, x, contact, spot)
    slipping = slip(w, contact)
    load, e = force_slopes(w, x, contact, spot, slipping, p)
    force, normal, reach = (load * e[0], load * e[1], load * e[2]), three_of(s + 8 * at.PUSH), arms(w, contact, spot)
    phi1, phi2 = at_origin(force, reach[0]), at_origin(force, reach[1])
    act_on(w, one, phi1, 1.0)
    if two != 0:
        act_on(w, two, phi2, -1.0)
    spin = sum_of(three_of(cvel + 48 * one), -1.0, three_of(cvel + 48 * two))
    for q in range(of_x[2]):
        shift, change = _of_body(w, q, one)
        other, change_too = _of_body(w, q, two)
        opened, slipped = at_arm(shift, reach[0]), at_arm(change, reach[0])
        moved, turned = at_arm(shift, reach[2]), (0.0, 0.0, 0.0)
        if is_pair:
            turned, moved = pair_turn(w, contact, shift, True, False)
        if two != 0:
            opened = sum_of(opened, -1.0, at_arm(other, reach[1]))
            slipped = sum_of(slipped, -1.0, at_arm(change_too, reach[1]))
            if is_pair:
                turned_too, moved_too = pair_turn(w, contact, other, False, True)
                turned, moved = sum_of(turned, 1.0, turned_too), sum_of(moved, 1.0, moved_too)
        slipped = sum_of(slipped, 1.0, cross(spin, moved))
        deeper = -(normal[0] * opened[0] + normal[1] * opened[1] + normal[2] * opened[2])
        pushed = sum_of(times(law + 8 * at.BY_SLIP, slipped), deeper, three_of(law + 8 * at.BY_DEPTH))
        if is_pair:
            pushed = sum_of(pushed, 1.0, times(law + 8 * at.BY_NORMAL, turned))
        if bristled:
            pushed = sum_of(pushed, 1.0, _bristles(w, of_x, contact, q, slipped, out, stride))
        if of_p[2] > 0:
            by_p = _parameters(w, of_p, x, contact, spot, slipping, (load, e, q), p, out, stride)
            pushed = sum_of(pushed, 1.0, by_p)
        moment = cross(moved, force)
        # (less what is carried along with the body)
        _act_along(w, q, one, plus(at_origin(pushed, reach[0]), -1.0, of_force(shift, phi1)), moment, 1.0)
        if two != 0:
            _act_along(w, q, two, plus(at_origin(pushed, reach[1]), -1.0, of_force(other, phi2)), moment, -1.0)


@core
def _bristles(w, of_x, contact, q, slipped, out, stride):
    """The change of the force by the bristles of a contact; their rates to ``out``."""
    law, first, force = read_int(w, at.LAW_WORK), read_int(contact, at.BRISTLE), (0.0, 0.0, 0.0)
    for i in range(2):
        bent, slopes = read(of_x[0], of_x[1] * q + first + i), three_of(law + 8 * (at.BRISTLES_BY_SLIP + 3 * i))
        force = sum_of(force, bent, three_of(law + 8 * (at.BY_BRISTLES + 3 * i)))
        rate = slopes[0] * slipped[0] + slopes[1] * slipped[1] + slopes[2] * slipped[2]
        write(out, stride * (first + i) + q, rate - read(law, at.FADE) * bent)
    return force


@core
def _parameters(w, of_p, x, contact, spot, slipping, here, p, out, stride):
    """The change of the force of a contact by the parameters of its laws; that of the rates of its bristles to ``out``. ``here``:
    the normal force and e (see `force_slopes`), and which direction it is."""
    load, e, q = here
    force, first = (0.0, 0.0, 0.0), read_int(contact, at.BRISTLE)
    for which in range(numbers_of_laws(contact)):
        size = read(of_p[0], of_p[1] * q + column_of_law(contact, which))
        if size != 0.0:
            a, b, c, bend, bow = force_by_parameter(w, x, contact, spot, slipping, which, load, e, p)
            force = sum_of(force, size, (a, b, c))
            if read_int(contact, at.FRICTION) == laws.LUGRE:
                for i in range(2):
                    place_of = stride * (first + i) + q
                    write(out, place_of, read(out, place_of) + size * (bend if i == 0 else bow))
    return force
