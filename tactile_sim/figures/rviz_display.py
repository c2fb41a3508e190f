"""Generate an RViz display configuration for a scene, with camera, taxel size, image and scales."""

from __future__ import annotations

from typing import Any, NamedTuple

import mujoco
import numpy as np
import yaml

from tactile_sim.common.files import find_shipped
from tactile_sim.common.names import Names, topic_token
from tactile_sim.config import Settings, configured_scene, resolve_feelers, resolve_pads, resolve_scales
from tactile_sim.figures.colors import taxel_scale
from tactile_sim.figures.images import mappable

TEMPLATE = "tactile_sim.rviz"
FIELD_OF_VIEW = np.radians(45.0)
"""Vertical field of view of RViz's camera [rad]."""
ASPECT = 1.1
"""Smallest expected aspect ratio (width / height) of RViz's 3D view next to its panel."""
MARGIN = 1.1
"""Ratio of the visible extent to the extent of the skin, or of the scene if it has no camera."""
DIRECTION = np.array([0.54, -0.76, 0.36]) / np.linalg.norm([0.54, -0.76, 0.36])
"""Unit vector toward the viewer if the scene has no camera: in front, to the right, slightly above."""
CAMERA = "main"
"""Name of the scene camera whose view RViz adopts."""
MAX_CAMERAS = 3
"""Largest number of displayed cameras."""
TAXEL = 0.5
"""Ratio of the displayed diameter of a taxel to the smallest taxel spacing."""
AXES = 0.06
"""Ratio of the length of the displayed frame axes to the extent of the scene."""
_SIGNS = np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
"""(8, 3) corners of a box as multiples (-1 or 1) of its half sizes."""
_AXIS_OF_SCALE = 0.2
"""Length of frame axes in rviz_default_plugins at marker scale 1 [m]."""


class Display(NamedTuple):
    """An RViz display configuration."""

    text: str
    """Content of the configuration file (YAML)."""
    images: list[str]
    """Topics of the displayed images, relative to the node's namespace."""


def rviz_display(settings: Settings) -> Display:
    """Return the default display configuration, adapted to a configured scene.

    This is fast because the skin itself is not computed.
    """
    content = yaml.safe_load(find_shipped("rviz", TEMPLATE).read_text(encoding="utf-8"))
    manager = content["Visualization Manager"]
    displays = {display["Name"]: display for display in manager["Displays"]}
    _, model = configured_scene(settings)
    names = Names(model)
    scales = resolve_scales(settings, model, names)
    pads, _ = resolve_pads(settings, model, names, scales)
    manager["Global Options"]["Fixed Frame"] = settings.world_frame
    manager["Views"]["Current"] |= _view(model, [*scales, *(pad.body for pad in pads)])
    displays["TF"]["Marker Scale"] = _rounded(AXES * model.stat.extent / _AXIS_OF_SCALE)
    spacings = [pad.spacing or (pad.layout.spacing if pad.layout else np.inf) for pad in pads]
    if spacings := [*scales.values(), *spacings]:
        displays["Taxels"]["Size (m)"] = _rounded(TAXEL * min(spacings))
    largest = _rounded(settings.markers.taxel_scale or taxel_scale(model))
    displays["Taxels"] |= {"Max Intensity": largest}
    # Points lag behind moving bodies and hide them, so they are shown only if triangles are missing.
    if any(pad.flex >= 0 or (pad.layout is not None and not len(pad.layout.triangles())) for pad in pads):
        displays["Taxels"] |= {"Enabled": True, "Value": True}
    colored = "Taxels" if displays["Taxels"]["Enabled"] else "Skin"
    displays[colored]["Name"] += f": dark 0, bright {largest:g} N"
    cameras = [f"cameras/{topic_token(name)}/image" for name in settings.cameras]
    images = _images(settings, model, names, scales) + cameras[:MAX_CAMERAS]
    manager["Displays"] += [_image(topic) for topic in images]
    return Display(yaml.safe_dump(content, sort_keys=False), images)


def _view(model: mujoco.MjModel, skin_bodies: list[int]) -> dict[str, Any]:
    """Return the settings of RViz's orbit view.

    The view is taken from the camera `CAMERA` or, if necessary, from further back. Without that camera, it
    shows the entire scene. Other cameras are ignored because they may be mounted on a robot.
    """
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_camlight(model, data)
    center, extent, slope = model.stat.center, model.stat.extent, np.tan(FIELD_OF_VIEW / 2)
    camera = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, CAMERA)
    if camera >= 0:
        position, back = data.cam_xpos[camera], data.cam_xmat[camera].reshape(3, 3)[:, 2]
        depth = max(float((position - center) @ back), 0.0)
        focus = position - depth * back
        # Robots may start in a pose that differs from the model's, so keep at least this distance.
        distances = [depth * np.tan(np.radians(model.cam_fovy[camera]) / 2) / slope, extent]
    else:
        back, focus = DIRECTION, center
        distances = [0.5 * MARGIN * extent / slope]
    geoms = np.flatnonzero(np.isin(model.geom_bodyid, skin_bodies))
    corners = model.geom_aabb[geoms, None, :3] + _SIGNS * model.geom_aabb[geoms, None, 3:]
    turned = np.einsum("nij,nkj->nki", data.geom_xmat[geoms].reshape(-1, 3, 3), corners)
    offset = (data.geom_xpos[geoms, None] + turned).reshape(-1, 3) - focus
    pitch, yaw = np.arcsin(np.clip(back[2], -1.0, 1.0)), np.arctan2(back[1], back[0]) % (2 * np.pi)
    right = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    for axis, aspect in ((right, ASPECT), (np.cross(back, right), 1.0)):
        distances += (MARGIN * np.abs(offset @ axis) / (aspect * slope) + offset @ back).tolist()
    distance = max(distances)
    return {
        "Distance": _rounded(distance),
        "Focal Point": dict(zip("XYZ", map(_rounded, focus), strict=True)),
        "Near Clip Distance": _rounded(min(0.01, 0.02 * distance)),
        "Pitch": _rounded(pitch),
        "Yaw": _rounded(yaw),
    }


def _images(settings: Settings, model: mujoco.MjModel, names: Names, scales: dict[int, float]) -> list[str]:
    """Return a list with the topic of one tactile image; empty if the scene has no such image.

    Bodies with feelers come first. Among the other bodies, those with one geom are preferred, because an
    image of several is a tall stack, then those in contact in most of the scene's keyframes, then those with
    the closest taxels.
    """
    bodies = list(resolve_feelers(settings, names, scales))
    if not bodies and settings.skin.kind == "mesh":
        collides = (model.geom_contype | model.geom_conaffinity) != 0
        geoms = {body: np.flatnonzero((model.geom_bodyid == body) & collides) for body in scales}
        touching = _contacts_in_keyframes(model)
        bodies = sorted(
            (body for body in scales if mappable(model, geoms[body])),
            key=lambda body: (len(geoms[body]) > 1, -touching[body], scales[body]),
        )
    return [f"tactile/{topic_token(names.bodies[body])}/image" for body in bodies[:1]]


def _contacts_in_keyframes(model: mujoco.MjModel) -> np.ndarray:
    """Return in how many of the initial state and the keyframes each body (nbody,) is in contact."""
    data = mujoco.MjData(model)
    counts = np.zeros(model.nbody, int)
    for key in range(-1, model.nkey):
        mujoco.mj_resetDataKeyframe(model, data, key)  # -1: the initial state
        mujoco.mj_fwdPosition(model, data)
        touched = data.contact.geom[data.contact.geom >= 0]
        counts[np.unique(model.geom_bodyid[touched])] += 1
    return counts


def _image(topic: str) -> dict[str, Any]:
    return {
        "Class": "rviz_default_plugins/Image",
        "Name": f"Image: {topic.split('/')[1]}",
        "Enabled": True,
        "Value": True,
        "Max Value": 1,
        "Median window": 5,
        "Min Value": 0,
        "Normalize Range": False,
        "Topic": {
            "Depth": 1,
            "Durability Policy": "Volatile",
            "History Policy": "Keep Last",
            "Reliability Policy": "Reliable",
            "Value": f"/{topic}",
        },
    }


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
