"""Feelers: hairs on bodies that sense what is near before it is touched, and that are seen as an image.

Without ROS, on any MuJoCo model::

    model = mujoco.MjModel.from_xml_path("scene.xml")
    data = mujoco.MjData(model)
    placed = [place(model, model.body("cube").id, image=Path("cube.png"), length=0.05)]
    feelers = Feelers(model, placed)
    while True:
        mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)  # the poses of this instant
        free = feelers.read(data)  # (n,) metres, from 0 to feelers.lengths
        cube = feelers.bodies[0]
        picture = image(cube.placed, free[cube.start : cube.stop])  # white where covered

`Feelers` says what covers feelers and what does not, `place` how they are painted on a body.
"""

from tactile_sim.feelers.feelers import FeelerBody, Feelers
from tactile_sim.feelers.image import image
from tactile_sim.feelers.placed import Part, Placed
from tactile_sim.feelers.placement import place
from tactile_sim.feelers.skin_image import SkinImage, mappable

__all__ = ["FeelerBody", "Feelers", "Part", "Placed", "SkinImage", "image", "mappable", "place"]
