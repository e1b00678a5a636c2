"""Solo12, a quadruped of 2.5 kg: its file, how it stands, and how it is loaded. Examples and pictures of the docs use it.

Needs the extra mujoco, and the file: pip install example-robot-data
"""

from importlib.metadata import distribution

from bouligand.bridges import mujoco as mj

ROBOTS = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
FILE = f"{ROBOTS}/solo_description/robots/solo12.urdf"
LEGS = ("FL", "FR", "HL", "HR")
STANCE = {  # knees bent, those of the front legs backwards and those of the hind legs forwards
    f"{leg}_{joint}": angle * (1.0 if leg[0] == "F" else -1.0)
    for leg in LEGS
    for joint, angle in (("HAA", 0.0), ("HFE", 0.8), ("KFE", -1.6))
}


def load(kp=8.0, kd=0.2, **options):
    """On soft feet with friction, its joints held in the stance."""
    usual = {
        "contacts": "*_FOOT",
        "law": mj.Spring(stiffness=5000.0, damping=30.0),
        "friction": 0.7,
        "control": mj.PD(STANCE, kp=kp, kd=kd),
        "free_base": True,
    }
    return mj.load(FILE, **usual | options)


def above_floor(robot, height):
    """Level, at rest, its feet that high above the floor."""
    x = robot.x(**STANCE)
    x[2] += height - robot.points(x)[:, 2].min()
    return x
