"""Drawings of the ready models, for `animate`: ``draw(ax, t, x, b, p)``. What touches is red."""

import math

import numpy as np

from ..models import falling, grasp, tripod

BODY, EDGE, FREE, TOUCHING, FLOOR = "#b9c7e0", "#33508c", "#5c6b7a", "#c1272d", "#8c8c8c"
AZIMUTH, ELEVATION = 0.35, 0.22  # rad: where three legs are seen from


def hopper(ax, t, x, b, p):
    """The mass on its leg; the foot hangs below it in flight."""
    rest, z = p[2], x[0]
    foot = 0.0 if b[0] > 0 else z - rest
    colour = TOUCHING if b[0] > 0 else FREE
    ax.plot(*spring((0.0, foot), (0.0, z)), color=colour, lw=1.6)
    ax.plot([0.0], [foot], "o", ms=6, color=colour)
    ax.plot([0.0], [z], "o", ms=26, color=BODY, mec=EDGE, mew=1.5)
    _stage(ax, t, (-1.2, 1.2), (-0.15, 2.3))


def plate(ax, t, x, b, p):
    """The plate, seen along its edge, over the bed of springs."""
    sine, cosine = math.sin(x[2]), math.cos(x[2])
    half = falling.LENGTH / 2
    positions = p[falling.FIXED :]
    for s, sign in zip(positions, b, strict=True):
        top = p[3] if sign < 0 else x[1] + sine / cosine * (s - x[0])
        colour = TOUCHING if sign > 0 else FREE
        if len(positions) <= 20:
            ax.plot(*spring((s, 0.0), (s, top), width=0.03), color=colour, lw=1.2)
        else:
            ax.plot([s, s], [0.0, top], color=colour, lw=0.8)
    ends = np.array([-half, half])
    ax.plot(x[0] + ends * cosine, x[1] + ends * sine, color=EDGE, lw=5, solid_capstyle="round")
    _stage(ax, t, (-1.5, 1.5), (-0.1, 2.8))


def three_legs(ax, t, x, b, p):
    """From the side and a little above; the heading, which does not matter, is kept."""
    turn = _rotation(x[1], x[2])
    radius, length = p[4], p[5]
    angle = tripod.TURN * np.arange(3)
    hips = radius * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(3)])
    centre = np.array([0.0, 0.0, x[0]])
    tops = centre + hips @ turn.T
    legs = np.where(b[:, None] > 0, tops[:, 2:] / turn[2, 2], length)  # shortened so that the foot is on the floor
    feet = tops - legs * turn[:, 2]
    round_ = np.linspace(0.0, 2.0 * np.pi, 61)
    rim = 1.15 * radius * np.column_stack([np.cos(round_), np.sin(round_), np.zeros(61)])
    shadow = centre * [1, 1, 0] + (rim @ turn.T) * [1, 1, 0]
    ax.fill(*_seen(shadow).T, color="0.88", lw=0, zorder=0)
    for i in np.argsort(feet @ [np.cos(AZIMUTH), np.sin(AZIMUTH), 0.0]):  # the farthest first
        colour = TOUCHING if b[i] > 0 else FREE
        start, stop = _seen(feet[i : i + 1])[0], _seen(tops[i : i + 1])[0]
        ax.plot(*spring(start, stop, width=0.018), color=colour, lw=1.5, zorder=2)
        ax.plot(*start, "o", ms=7, color=colour, zorder=2)
    thick = 0.05 * turn[:, 2]
    low, high = centre + rim @ turn.T - 0.3 * thick, centre + rim @ turn.T + 0.7 * thick
    for layer, shade in ((low, EDGE), (high, BODY)):
        ax.fill(*_seen(layer).T, facecolor=shade, edgecolor=EDGE, lw=1.2, zorder=3)
    _stage(ax, t, (-0.42, 0.42), (-0.12, 0.84), floor=False)


def hand(ax, t, x, b, p):
    """From above: the disc with a mark on it, and the fingers around."""
    fingers = len(b) // 2
    radius, length, tip = p[1], p[3], p[4]
    round_ = np.linspace(0.0, 2.0 * np.pi, 121)
    ax.fill(x[0] + radius * np.cos(round_), x[1] + radius * np.sin(round_), facecolor=BODY, edgecolor=EDGE, lw=1.5)
    ax.plot(
        x[0] + radius * np.cos(x[2]) * np.array([0.3, 0.9]),
        x[1] + radius * np.sin(x[2]) * np.array([0.3, 0.9]),
        color=EDGE,
    )
    for i in range(fingers):
        angle = 2.0 * math.pi * i / fingers
        hinge = grasp.CLOSED * np.array([math.cos(angle), math.sin(angle)])
        hinge += length * np.array([-math.sin(angle), math.cos(angle)])
        end = hinge + length * np.array([math.sin(angle + x[3 + i]), -math.cos(angle + x[3 + i])])
        colour = TOUCHING if b[i] > 0 else FREE
        ax.plot([hinge[0], end[0]], [hinge[1], end[1]], color=FREE, lw=6, solid_capstyle="round", zorder=2)
        ax.plot(*hinge, "o", ms=10, color="0.95", mec=FREE, mew=2, zorder=3)
        ax.fill(end[0] + tip * np.cos(round_), end[1] + tip * np.sin(round_), color=colour, zorder=4)
    _stage(ax, t, (-0.13, 0.13), (-0.13, 0.13), floor=False)


def hexapod(ax, t, x, b, p):
    """From the side, the camera going along; lines across the floor stay where they are."""
    from ..models import feet  # (compiled: not before it is needed)

    turn, centre = np.array(feet.rotation(x)), np.array([0.0, 0.0, x[2]])
    length, width, high = p[5], p[6], 0.35 * p[7]
    view = (-1.25, 0.28)
    for line in np.arange(np.ceil((x[0] - 2.0) / 0.25) * 0.25, x[0] + 2.0, 0.25):
        ends = np.array([[line - x[0], -1.0, 0.0], [line - x[0], 1.0, 0.0]])
        ax.plot(*_seen(ends, *view).T, color="0.88", lw=1.0, zorder=0)
    legs = [np.array(feet.leg(t, i, p)[0]) for i in range(6)]
    hips = [np.array([length * along, width * across, 0.0]) for along, across in zip(_ALONG, _ACROSS, strict=True)]
    corners = [[sx * length, sy * width, 0.0] for sx, sy in ((1, 1), (1, -1), (-1, -1), (-1, 1), (1, 1))]
    body = [centre + (np.array(corners) + [0.0, 0.0, level]) @ turn.T for level in (-0.5 * high, 0.5 * high)]
    ax.fill(*_seen(np.vstack([body[0][[1, 2]], body[1][[2, 1]]]), *view).T, facecolor=EDGE, edgecolor=EDGE, zorder=3)
    ax.fill(*_seen(body[1], *view).T, facecolor=BODY, edgecolor=EDGE, lw=1.2, zorder=3)
    for i in range(6):
        beside = hips[i] * [1.0, 0.0, 1.0] + [
            0.0,
            math.copysign(width, hips[i][1]),
            0.0,
        ]  # (the middle hips are farther out)
        ends = centre + np.array([hips[i], legs[i]]) @ turn.T
        arm = centre + np.array([beside, hips[i]]) @ turn.T
        colour, order = (TOUCHING if b[i] > 0 else FREE), (4 if hips[i][1] < 0 else 2)
        ax.plot(*_seen(arm, *view).T, color=EDGE, lw=2.0, zorder=order)
        ax.plot(*_seen(ends, *view).T, color=colour, lw=3.0, solid_capstyle="round", zorder=order)
        ax.plot(*_seen(ends[1:], *view).T, "o", ms=5, color=colour, zorder=order)
    _stage(ax, t, (-0.6, 0.6), (-0.2, 0.5), floor=False)


_ALONG, _ACROSS = (
    (1, 0, -1, 1, 0, -1),
    (1, -2, 1, -1, 2, -1),
)  # where the hexapod's hips are, in half lengths and widths


def spring(start, stop, coils=7, width=0.05):
    """Points (x, y) of a coil between two points of the plane."""
    start, stop = np.asarray(start, dtype=float), np.asarray(stop, dtype=float)
    along = np.concatenate([[0.0], np.linspace(0.12, 0.88, 4 * coils + 1), [1.0]])
    across = np.concatenate([[0.0], width * np.sin(0.5 * np.pi * np.arange(4 * coils + 1)), [0.0]])
    way = stop - start
    side = np.array([-way[1], way[0]]) / (np.hypot(*way) or 1.0)
    return start[0] + along * way[0] + across * side[0], start[1] + along * way[1] + across * side[1]


def _rotation(roll, pitch):
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    return np.array([[cp, sp * sr, sp * cr], [0.0, cr, -sr], [-sp, cp * sr, cp * cr]])


def _seen(points, azimuth=AZIMUTH, elevation=ELEVATION):
    """Points of space as seen from there, in parallel."""
    across = -np.sin(azimuth) * points[:, 0] + np.cos(azimuth) * points[:, 1]
    near = np.cos(azimuth) * points[:, 0] + np.sin(azimuth) * points[:, 1]
    return np.column_stack([across, np.cos(elevation) * points[:, 2] - np.sin(elevation) * near])


def _stage(ax, t, across, up, floor=True):
    if floor:
        ax.axhline(0.0, color=FLOOR, lw=1.2, zorder=0)
    ax.set_xlim(*across)
    ax.set_ylim(*up)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.text(0.5, 1.0, f"t = {t:.3f}", transform=ax.transAxes, family="monospace", ha="center", va="bottom")
