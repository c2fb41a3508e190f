"""Feelers: lines normal to a body's surface that sense obstacles before contact.

They work on any MuJoCo model, without ROS::

    model = mujoco.MjModel.from_xml_path("scene.xml")
    data = mujoco.MjData(model)
    placed = [place(model, model.body("cube").id, image=Path("cube.png"), length=0.05)]
    feelers = Feelers(model, placed)
    while True:
        mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)  # mj_step leaves the poses of the previous state
        free = feelers.read(data)  # (n,) free lengths [m], from 0 to feelers.lengths
        cube = feelers.bodies[0]
        pixels = image(cube.placed, free[cube.start : cube.stop])  # white where covered

See `place` for how to paint feelers on a body, and `Feelers` for the obstacles that cover them.
"""

from tactile_sim.feelers.feelers import FeelerBody, Feelers, Part, Placed, image
from tactile_sim.feelers.placement import place

__all__ = ["FeelerBody", "Feelers", "Part", "Placed", "image", "place"]
