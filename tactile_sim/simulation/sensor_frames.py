"""TF frames of sensors whose measurements are not in the frame of a body."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np

from tactile_sim.common.names import Names

_BODY, _INERTIAL = int(mujoco.mjtObj.mjOBJ_XBODY), int(mujoco.mjtObj.mjOBJ_BODY)
_GEOM, _SITE, _CAMERA = (
    int(mujoco.mjtObj.mjOBJ_GEOM),
    int(mujoco.mjtObj.mjOBJ_SITE),
    int(mujoco.mjtObj.mjOBJ_CAMERA),
)
_Z_TO_X = np.array([np.sqrt(0.5), 0.0, -np.sqrt(0.5), 0.0])
"""Rotation (wxyz) that maps the x axis to the z axis."""


class SensorFrames:
    """Frames of sites, geoms, cameras and centers of mass, each fixed to a body and created on request.

    A frame has the name of its element, with the kind appended (``tip_site``) if another frame has that name.
    Unnamed elements are called ``<body>/<kind><k>``, where k counts the body's elements of that kind.

    Args:
        model: Compiled scene.
        names: Names of its elements.
        body_frames: Names of the bodies' TF frames, indexed by body id.
        prefix: Prefix of all frames except the world frame.
    """

    def __init__(self, model: mujoco.MjModel, names: Names, body_frames: Sequence[str], prefix: str):
        self._model = model
        self._names = names
        self._body_frames = body_frames
        self._prefix = prefix
        self._made: dict[tuple[int, int, bool], str] = {}
        self.names: list[str] = []
        self.bodies: list[int] = []
        """Id of the body to which each frame is fixed."""
        self.positions: list[np.ndarray] = []
        """Position (3,) of each frame in its body's frame [m]."""
        self.quaternions: list[np.ndarray] = []
        """Orientation (4,) of each frame in its body's frame, wxyz."""

    def of(self, kind: int, thing: int, along_x: bool = False) -> str:
        """Return the name of an element's TF frame, or of the world frame if the element has none.

        Args:
            kind: Kind of the element (mjtObj).
            thing: Id of the element.
            along_x: Whether to rotate the frame so that its x axis is the element's z axis.
        """
        model = self._model
        if kind == _BODY:
            return self._body_frames[thing]
        key = (kind, thing, along_x)
        if key in self._made:
            return self._made[key]
        if kind == _SITE:
            pose = model.site_pos[thing], model.site_quat[thing]
        elif kind == _GEOM:
            pose = model.geom_pos[thing], model.geom_quat[thing]
        elif kind == _INERTIAL:
            pose = model.body_ipos[thing], model.body_iquat[thing]
        elif kind == _CAMERA and model.cam_mode[thing] == mujoco.mjtCamLight.mjCAMLIGHT_FIXED:
            pose = model.cam_pos[thing], model.cam_quat[thing]
        else:
            return self._body_frames[0]
        position, quaternion = (np.array(part) for part in pose)
        if along_x:
            mujoco.mju_mulQuat(quaternion, pose[1], _Z_TO_X)
        self._made[key] = self._add(kind, thing, position, quaternion, along_x)
        return self._made[key]

    def body_of(self, kind: int, thing: int) -> int:
        """Return the id of an element's body, or 0 (the world) if the element has none.

        Args:
            kind: Kind of the element (mjtObj).
            thing: Id of the element.
        """
        model = self._model
        if kind in (_BODY, _INERTIAL):
            return thing
        owners = {_GEOM: model.geom_bodyid, _SITE: model.site_bodyid, _CAMERA: model.cam_bodyid}
        return int(owners[kind][thing]) if kind in owners else 0

    def _add(self, kind: int, thing: int, position: np.ndarray, quaternion: np.ndarray, along_x: bool) -> str:
        word = {_SITE: "site", _GEOM: "geom", _CAMERA: "camera", _INERTIAL: "inertial"}[kind]
        word = "range" if along_x else word
        body = self.body_of(kind, thing)
        return self.add(self._name(kind, thing, word), body, position, quaternion, word)

    def add(
        self, name: str, body: int, position: np.ndarray, quaternion: np.ndarray, kind: str = "frame"
    ) -> str:
        """Add a frame and return its name with the prefix, and if necessary with its kind appended.

        Args:
            name: Name of the frame.
            body: Id of the body to which it is fixed.
            position: (3,) position in the frame of the body [m].
            quaternion: (4,) orientation in the frame of the body, wxyz.
            kind: Word to append while another frame has that name.
        """
        frame = self._prefix + name
        while frame in self._body_frames or frame in self.names:
            frame += f"_{kind}"
        self.names.append(frame)
        self.bodies.append(body)
        self.positions.append(position)
        self.quaternions.append(quaternion)
        return frame

    def _name(self, kind: int, thing: int, word: str) -> str:
        if kind == _GEOM:
            return self._names.geoms[thing]
        if kind == _INERTIAL:
            return self._names.bodies[thing]
        name = mujoco.mj_id2name(self._model, mujoco.mjtObj(kind), thing)
        if name:
            return name
        owners = self._model.site_bodyid if kind == _SITE else self._model.cam_bodyid
        body = owners[thing]
        return f"{self._names.bodies[body]}/{word}{int((owners[:thing] == body).sum())}"
