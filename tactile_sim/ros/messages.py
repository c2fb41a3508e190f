"""Messages as CDR bytes, made from snapshots."""

from __future__ import annotations

import zlib

import numpy as np
from geometry_msgs.msg import WrenchStamped
from numba import njit
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, PointCloud2, PointField
from tf2_msgs.msg import TFMessage

from tactile_sim.frames import relative_poses, to_xyzw
from tactile_sim.msg import ContactWrenchArray, TactileArray, TactileFrame, TactileLayout
from tactile_sim.names import topic_token
from tactile_sim.ros import cdr
from tactile_sim.simulation import Simulation
from tactile_sim.skin import TOUCH_FUNCTIONS
from tactile_sim.snapshot import Snapshot

_POINT_FIELDS = [
    *((name, 4 * k, "<f4", PointField.FLOAT32) for k, name in enumerate("x y z intensity fx fy fz".split())),
    ("body", 28, "<u2", PointField.UINT16),
    ("taxel", 32, "<u4", PointField.UINT32),
]
POINT = np.dtype(
    {
        "names": [name for name, *_ in _POINT_FIELDS],
        "formats": [form for _, _, form, _ in _POINT_FIELDS],
        "offsets": [offset for _, offset, *_ in _POINT_FIELDS],
        "itemsize": 36,
    }
)
"""A taxel in ``tactile/points``."""


class Messages:
    """Makes the messages of one simulation; what does not change from one to the next is made once."""

    def __init__(self, simulation: Simulation):
        settings, skin, model = simulation.settings, simulation.skin, simulation.engine.model
        self._simulation = simulation
        self.world = settings.world_frame
        names = simulation.names
        self.frames = simulation.frames
        self.body_names = [names.bodies[body.body_id] for body in skin.bodies]
        self.body_frames = [self.frames[body.body_id] for body in skin.bodies]
        self.tokens = [topic_token(name) for name in self.body_names]
        self._counts = np.array([body.stop - body.start for body in skin.bodies], np.uint32)
        self._layout_id = zlib.crc32(
            b"".join([skin.positions.tobytes(), skin.normals.tobytes(), self._counts.tobytes()])
        )

        # One entry more than there are ids: the last stands for -1, a flex.
        self._names_by_body = np.array([*names.bodies, ""], object)
        self._names_by_geom = np.array([*names.geoms, ""], object)

        bodies = np.arange(1, model.nbody)
        if settings.tf == "objects":
            bodies = simulation.engine.free_bodies
        fixed = (model.body_jntnum[bodies] == 0) & (model.body_mocapid[bodies] < 0)
        self._moving, self._fixed = bodies[~fixed], bodies[fixed]
        self._moving_frames = self._frames_of(self._moving)

        taxels = np.zeros(len(skin.positions), POINT)
        taxels["body"] = skin.body_index
        taxels["taxel"] = np.arange(len(taxels)) - skin.offsets[skin.body_index]
        self._points = taxels
        self._point_fields = [
            {"name": name, "offset": offset, "datatype": kind, "count": 1}
            for name, offset, _, kind in _POINT_FIELDS
        ]

    # -- time and frames -------------------------------------------------------------------------------------

    def clock(self, snapshot: Snapshot) -> bytes:
        """``/clock``"""
        return cdr.encode(Clock, {"clock": snapshot.stamp})

    def transforms(self, snapshot: Snapshot) -> bytes:
        """``/tf``: moving bodies in the frames of their parents in the model."""
        engine = self._simulation.engine
        poses = relative_poses(
            engine.body_positions,
            engine.body_quaternions,
            engine.body_rotations,
            self._moving,
            engine.model.body_parentid,
        )
        return self._transforms(snapshot.stamp, self._moving_frames, poses)

    def static_transforms(self, stamp: int) -> bytes:
        """``/tf_static``: bodies without a joint."""
        model = self._simulation.engine.model
        poses = np.hstack([model.body_pos, to_xyzw(model.body_quat)])[self._fixed]
        return self._transforms(stamp, self._frames_of(self._fixed), poses)

    def _frames_of(self, bodies: np.ndarray) -> tuple[list[str], list[str]]:
        """The frames of bodies' parents, and their own."""
        parents = self._simulation.engine.model.body_parentid[bodies]
        return [self.frames[parent] for parent in parents], [self.frames[body] for body in bodies]

    @staticmethod
    def _transforms(stamp: int, frames: tuple[list[str], list[str]], poses: np.ndarray) -> bytes:
        header = {"stamp": stamp, "frame_id": frames[0]}
        transforms = cdr.Columns(header=header, child_frame_id=frames[1], transform=poses)
        return cdr.encode(TFMessage, {"transforms": transforms})

    # -- the skin --------------------------------------------------------------------------------------------

    def layout(self, index: int, stamp: int) -> bytes:
        """``tactile/<body>/layout`` of one skin body."""
        skin = self._simulation.skin
        body = skin.bodies[index]
        taxels = slice(body.start, body.stop)
        return cdr.encode(
            TactileLayout,
            {
                "header": {"stamp": stamp, "frame_id": self.body_frames[index]},
                "layout_id": self._layout_id,
                "body": self.body_names[index],
                "spacing": body.spacing,
                "positions": skin.positions[taxels].ravel(),
                "normals": skin.normals[taxels].ravel(),
                "areas": skin.areas[taxels],
                "triangles": body.triangles.ravel(),
                "geoms": [self._simulation.names.geoms[geom] for geom in body.geom_ids],
                "geom_index": skin.geom_index[taxels],
            },
        )

    def array(self, index: int, snapshot: Snapshot) -> bytes:
        """``tactile/<body>/array`` of one skin body."""
        body = self._simulation.skin.bodies[index]
        return cdr.encode(
            TactileArray,
            {
                "header": {"stamp": snapshot.stamp, "frame_id": self._vector_frames()[index]},
                "layout_id": self._layout_id,
                "body": self.body_names[index],
                **self._quantity(),
                "taxel_count": int(self._counts[index]),
                "data": snapshot.taxels32[body.start : body.stop].ravel(),
            },
        )

    def frame(self, snapshot: Snapshot) -> bytes:
        """``tactile/frame``"""
        return cdr.encode(
            TactileFrame,
            {
                "header": {"stamp": snapshot.stamp, "frame_id": self.world},
                "layout_id": self._layout_id,
                **self._quantity(),
                "bodies": self.body_names,
                "frame_ids": self._vector_frames(),
                "taxel_counts": self._counts,
                "data": snapshot.taxels32.ravel(),
            },
        )

    def wrench(self, index: int, snapshot: Snapshot) -> bytes:
        """``tactile/<body>/wrench`` of one skin body."""
        header = {"stamp": snapshot.stamp, "frame_id": self.body_frames[index]}
        return cdr.encode(WrenchStamped, {"header": header, "wrench": snapshot.wrenches[index]})

    def points(self, snapshot: Snapshot) -> bytes:
        """``tactile/points``: intensity is the magnitude of the force [N]."""
        points = self._points
        # All fields are four bytes wide or padded to it.
        _fill_points(
            points.view("<f4").reshape(len(points), -1), snapshot.taxel_positions_world, snapshot.forces_world
        )
        return cdr.encode(
            PointCloud2,
            {
                "header": {"stamp": snapshot.stamp, "frame_id": self.world},
                "height": 1,
                "width": len(points),
                "fields": self._point_fields,
                "point_step": POINT.itemsize,
                "row_step": points.nbytes,
                "data": points.view(np.uint8),
                "is_dense": True,
            },
        )

    def _quantity(self) -> dict[str, object]:
        """What the taxels tell at present."""
        name = self._simulation.settings.skin.touch_function
        function = TOUCH_FUNCTIONS[name]
        return {"quantity": name, "unit": function.unit, "channels": function.channels}

    def _vector_frames(self) -> list[str]:
        """The frame of each skin body's vectors."""
        in_world = self._simulation.settings.skin.touch_function == "force_vector_global"
        return [self.world] * len(self.body_frames) if in_world else self.body_frames

    # -- contacts and joints ---------------------------------------------------------------------------------

    def contacts(self, snapshot: Snapshot) -> bytes:
        """``contacts``"""
        contacts = snapshot.contacts
        bodies, geoms = self._names_by_body[contacts.bodies], self._names_by_geom[contacts.geoms]
        sensing = self._simulation.sensing[contacts.bodies]
        columns = cdr.Columns(
            body1=bodies[:, 0].tolist(),
            geom1=geoms[:, 0].tolist(),
            body2=bodies[:, 1].tolist(),
            geom2=geoms[:, 1].tolist(),
            geom1_id=contacts.geoms[:, 0],
            geom2_id=contacts.geoms[:, 1],
            sensing1=sensing[:, 0],
            sensing2=sensing[:, 1],
            position=contacts.position,
            normal=contacts.frame[:, 0],
            tangent1=contacts.frame[:, 1],
            tangent2=contacts.frame[:, 2],
            distance=contacts.distance,
            wrench=contacts.wrench_world,
            contact_force=contacts.wrench[:, :3],
            relative_velocity=contacts.relative_velocity,
        )
        header = {"stamp": snapshot.stamp, "frame_id": self.world}
        return cdr.encode(ContactWrenchArray, {"header": header, "contacts": columns})

    def joint_states(self, snapshot: Snapshot) -> bytes:
        """``joint_states``"""
        position, velocity, effort = snapshot.joint_states
        return cdr.encode(
            JointState,
            {
                "header": {"stamp": snapshot.stamp},
                "name": self._simulation.commander.joint_names,
                "position": position,
                "velocity": velocity,
                "effort": effort,
            },
        )


@njit(cache=True)
def _fill_points(rows: np.ndarray, positions: np.ndarray, forces: np.ndarray) -> None:
    for n in range(len(rows)):
        square = 0.0
        for i in range(3):
            rows[n, i] = positions[n, i]
            rows[n, 4 + i] = forces[n, i]
            square += forces[n, i] ** 2
        rows[n, 3] = np.sqrt(square)
