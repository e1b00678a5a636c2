"""Compiled: how the forces of contacts change along a few directions (see `directions`; by each state: `contact_jacobian`)."""

from . import laws
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
)
from .law_jacobian import column_of_law, force_by_parameter, force_slopes, numbers_of_laws
from .pair_jacobian import pair_slopes, pair_turn
from .spatial import STILL, cross, of_force, of_motion, plus, sum_of, three_of, times, vector
from .table import LIMIT, PAIR, core
from .touching import closing, place, pushes, slip


@core(inline=True)
def _of_body(r, q, body):
    """Along direction q: the displacement of a body, and the change of its velocity."""
    last = r.body_last_dof[body]
    if last < 0:
        return STILL, STILL
    row = r.dofs_along[q, last]
    shift = vector(row.shift)
    carried = of_motion(shift, vector(r.cvel[body]))
    return shift, plus(carried, 1.0, vector(row.v_change))


@core
def _act_along(r, q, body, force, moment, sign):
    """Subtract sign * a change of the spatial force on a body, and that of its moment beside it, from ``r.bodies_along``."""
    row = r.bodies_along[q, body].change
    for i in range(6):
        row[i] -= sign * force[i]
    for i in range(3):
        row[i] -= sign * moment[i]


@core(inline=True)
def add_gravity_compensation_along(r, many):
    """Forces on the centres of mass of bodies, which keep their direction."""
    if r.sizes.compensated == 0:
        return
    for body in range(1, r.compensated.shape[0]):
        if r.compensated[body] != 0.0:
            force, reach = compensation(r, body)
            phi = at_origin(force, reach)
            act_on(r, body, phi, 1.0)
            for q in range(many):
                shift, _ = _of_body(r, q, body)
                _act_along(r, q, body, of_force(shift, phi), cross(force, at_arm(shift, reach)), -1.0)


@core(inline=True)
def add_contacts_along(r, of_x, of_p, x, b, p, out):
    """What all contacts of the mode b add to the forces on bodies and joints, and to ``out``, the rates of their bristles.
    ``of_x``, ``of_p``: the directions of the states and of the parameters (no rows: none has any)."""
    for k in range(r.contacts.shape[0]):
        contact = r.contacts[k]
        if not pushes(contact, b):
            add_relaxation(of_x, contact, p, out)
            if of_p.shape[0] > 0:
                add_relaxation_parameters(of_p, contact, x, p, out)
        else:
            place(r, x, contact)
            if contact.kind != LIMIT:
                _add_contact(r, of_x, of_p, x, contact, p, out)
            else:
                depth, rate = r.placed.depth, closing(r, contact)
                add_stop(r, of_x, contact, depth, rate, p)
                if of_p.shape[0] > 0:
                    add_stop_parameters(r, of_p, contact, depth, rate, p)


@core
def _add_contact(r, of_x, of_p, x, contact, p, out):
    """A contact that pushes and has been placed."""
    law, cvel, one, two = r.slopes, r.cvel, contact.body1, contact.body2
    is_pair, bristled = contact.kind == PAIR, contact.friction == laws.LUGRE
    if is_pair:
        pair_slopes(r, x, contact)
    slipping = slip(r, contact)
    load, e = force_slopes(r, x, contact, slipping, p)
    force, normal, reach = (load * e[0], load * e[1], load * e[2]), three_of(r.placed.push), arms(r, contact)
    phi1, phi2 = at_origin(force, reach[0]), at_origin(force, reach[1])
    act_on(r, one, phi1, 1.0)
    if two != 0:
        act_on(r, two, phi2, -1.0)
    spin = sum_of(three_of(cvel[one]), -1.0, three_of(cvel[two]))
    for q in range(of_x.shape[0]):
        shift, change = _of_body(r, q, one)
        other, change_too = _of_body(r, q, two)
        opened, slipped = at_arm(shift, reach[0]), at_arm(change, reach[0])
        moved, turned = at_arm(shift, reach[2]), (0.0, 0.0, 0.0)
        if is_pair:
            turned, moved = pair_turn(r, contact, shift, True, False)
        if two != 0:
            opened = sum_of(opened, -1.0, at_arm(other, reach[1]))
            slipped = sum_of(slipped, -1.0, at_arm(change_too, reach[1]))
            if is_pair:
                turned_too, moved_too = pair_turn(r, contact, other, False, True)
                turned, moved = sum_of(turned, 1.0, turned_too), sum_of(moved, 1.0, moved_too)
        slipped = sum_of(slipped, 1.0, cross(spin, moved))
        deeper = -(normal[0] * opened[0] + normal[1] * opened[1] + normal[2] * opened[2])
        pushed = sum_of(times(law.by_slip, slipped), deeper, three_of(law.by_depth))
        if is_pair:
            pushed = sum_of(pushed, 1.0, times(law.by_normal, turned))
        if bristled:
            pushed = sum_of(pushed, 1.0, _bristles(law, of_x, contact, q, slipped, out))
        if of_p.shape[0] > 0:
            pushed = sum_of(pushed, 1.0, _parameters(r, of_p, x, contact, slipping, (load, e, q), p, out))
        moment = cross(moved, force)
        # (less what is carried along with the body)
        _act_along(r, q, one, plus(at_origin(pushed, reach[0]), -1.0, of_force(shift, phi1)), moment, 1.0)
        if two != 0:
            _act_along(r, q, two, plus(at_origin(pushed, reach[1]), -1.0, of_force(other, phi2)), moment, -1.0)


@core
def _bristles(law, of_x, contact, q, slipped, out):
    """The change of the force by the bristles of a contact; their rates to ``out``."""
    first, force = contact.bristle, (0.0, 0.0, 0.0)
    for i in range(2):
        bent, slopes = of_x[q, first + i], three_of(law.bristles_by_slip[i])
        force = sum_of(force, bent, three_of(law.by_bristles[i]))
        rate = slopes[0] * slipped[0] + slopes[1] * slipped[1] + slopes[2] * slipped[2]
        out[first + i, q] = rate - law.fade * bent
    return force


@core
def _parameters(r, of_p, x, contact, slipping, here, p, out):
    """The change of the force of a contact by the parameters of its laws; that of the rates of its bristles to ``out``. ``here``:
    the normal force and e (see `force_slopes`), and which direction it is."""
    load, e, q = here
    force, first = (0.0, 0.0, 0.0), contact.bristle
    for which in range(numbers_of_laws(contact)):
        size = of_p[q, column_of_law(contact, which)]
        if size != 0.0:
            a, b, c, bend, bow = force_by_parameter(r, x, contact, slipping, which, load, e, p)
            force = sum_of(force, size, (a, b, c))
            if contact.friction == laws.LUGRE:
                out[first, q] += size * bend
                out[first + 1, q] += size * bow
    return force
