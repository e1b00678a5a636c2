"""Curves of a robot for figures: its base as position and roll, pitch, yaw, joints, speeds, forces; each with its unit."""

import numpy as np

LINES = 10  # in one axes: so many colours there are


def unit(robot, name):
    """The unit of a state, or of the time."""
    if name == "t":
        return "s"
    kind, _, joint = name.partition(":")
    turns = _turns(robot, joint)
    return {"qpos": "rad" if turns else "m", "qvel": "rad/s" if turns else "m/s", "bristle": "m"}.get(kind, "")


def _turns(robot, joint):
    """Whether a coordinate is an angle."""
    name, _, part = joint.partition(":")
    if part:
        return part[0] in "qw"
    joints = [robot.model.joint(i) for i in range(robot.model.njnt)]
    return next((int(j.type[0]) != 2 for j in joints if j.name == name), True)  # (2: a slide)


def panels(robot, solution, times):
    """{figure: [(label, {curve: values})]}: the states, and the forces at contacts."""
    x, names = solution(times), robot.states
    rows = []
    for joint in {name.split(":")[1]: None for name in names if name.endswith(":qw")}:
        place = {part: names.index(f"qpos:{joint}:{part}") for part in "xyz" if f"qpos:{joint}:{part}" in names}
        if place:
            rows.append((f"{joint} (m)", {part: x[:, i] for part, i in place.items()}))
        first = names.index(f"qpos:{joint}:qw")
        angles = euler(x[:, first : first + 4])
        rows.append((f"{joint} (deg)", dict(zip(("roll", "pitch", "yaw"), np.degrees(angles).T, strict=True))))
    for kind, label in (("qpos", "joints"), ("qvel", "speeds")):
        single = [name for name in names if name.startswith(f"{kind}:") and name.count(":") == 1]
        for turns in (True, False):
            some = [name for name in single if _turns(robot, name.partition(":")[2]) == turns]
            for group in _divided(some):
                curves = {name.partition(":")[2]: x[:, names.index(name)] for name in group}
                rows.append((f"{label} ({unit(robot, group[0])})", curves))
    out = {"states": rows}
    if robot.contacts:
        words = solution.word(times)
        pushes = np.array([robot.forces(*at, solution.p, t) for t, *at in zip(times, x, words, strict=True)])
        across = np.linalg.norm(pushes[:, :, :2], axis=2)
        largest = np.argsort(-np.abs(pushes).max(axis=(0, 2)), kind="stable")[:LINES]  # (of many contacts)
        shown = sorted(map(int, largest))
        out["forces"] = [
            ("upwards (N)", {robot.contacts[i]: pushes[:, i, 2] for i in shown}),
            ("along the floor (N)", {robot.contacts[i]: across[:, i] for i in shown}),
        ]
    return out


def _divided(names):
    """Parts of about the same size, none with more than LINES names."""
    parts = -(-len(names) // LINES)
    return [list(part) for part in np.array_split(names, parts)] if parts else []


def euler(quaternions):
    """Roll, pitch and yaw (about x, y, z of the world, in this order) of quaternions (times, 4); yaw without jumps."""
    w, x, y, z = quaternions.T / np.linalg.norm(quaternions, axis=1)
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1.0, 1.0))
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return np.array([np.unwrap(roll), pitch, np.unwrap(yaw)]).T
