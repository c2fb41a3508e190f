"""Encode the node's messages as CDR bytes from snapshots."""

from __future__ import annotations

import zlib
from typing import Any, NamedTuple

import mujoco
import numpy as np
from geometry_msgs.msg import WrenchStamped
from rosgraph_msgs.msg import Clock
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import JointState, PointCloud2, PointField
from tf2_msgs.msg import TFMessage

from tactile_sim.compilation import kernel
from tactile_sim.engines import Contacts
from tactile_sim.frames import relative_poses, to_xyzw
from tactile_sim.msg import ContactWrenchArray, TactileArray, TactileFrame, TactileLayout, TactileState
from tactile_sim.names import topic_token
from tactile_sim.ros import cdr
from tactile_sim.simulation import Simulation, Snapshot
from tactile_sim.simulation.pad_states import STATE_COLUMNS
from tactile_sim.skin import TOUCH_FUNCTIONS

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
"""Fields of a taxel in ``tactile/points``."""


_ALL_VALID = np.empty(0, np.uint8)


class Messages:
    """Encodes the messages of one simulation from templates that are built once.

    In its methods ``index`` refers to ``skin.pads``, and ``stamp`` is a time [ns].
    """

    def __init__(self, simulation: Simulation):
        settings, skin, model = simulation.settings, simulation.skin, simulation.engine.model
        self._simulation = simulation
        self.world = settings.world_frame
        names = simulation.names
        self.frames = simulation.frames
        self.pad_names = [pad.name for pad in skin.pads]
        self.tokens = [topic_token(name) for name in self.pad_names]
        self._bodies = [names.bodies[pad.body_id] for pad in skin.pads]
        self._pad_frames = [self.frames[pad.body_id] for pad in skin.pads]
        self._counts = np.diff(skin.offsets).astype(np.uint32)
        self._layout_id = zlib.crc32(
            b"".join(part.tobytes() for part in (skin.positions, skin.axes, skin.ids, self._counts))
        )

        bodies = np.arange(1, model.nbody)
        if settings.tf == "objects":
            bodies = simulation.engine.free_bodies
        fixed = (model.body_jntnum[bodies] == 0) & (model.body_mocapid[bodies] < 0)
        self._moving, self._fixed = bodies[~fixed], bodies[fixed]
        self._families = _families(model, self._moving)

        taxels = np.zeros(len(skin.positions), POINT)
        taxels["body"] = skin.pad_index
        taxels["taxel"] = np.arange(len(taxels)) - skin.offsets[skin.pad_index]
        self._points = taxels

        joints = len(simulation.commander.joint_names)
        self._joint_parts = np.array([[0, joints, 2 * joints, joints]], np.int32)
        self._make_templates()

    def _make_templates(self) -> None:
        simulation = self._simulation
        header = {"stamp": cdr.STAMP, "frame_id": self.world}
        self._clock = cdr.template(Clock, {"clock": cdr.STAMP})
        self.first_clock = 0
        """Smallest time that ``/clock`` publishes [ns]."""
        transform = {
            "header": {"stamp": cdr.STAMP, "frame_id": cdr.Lookup(0, self.frames)},
            "child_frame_id": cdr.Lookup(1, [*self.frames, *simulation.sensor_frames.names]),
            "transform": cdr.Value(0),
        }
        self._transforms = cdr.template(TFMessage, {"transforms": cdr.Repeat(transform)})
        self._skins: dict[str, _SkinForms] = {}
        self._wrenches = [
            cdr.template(
                WrenchStamped,
                {"header": {"stamp": cdr.STAMP, "frame_id": frame}, "wrench": cdr.Value(0)},
            )
            for frame in self._pad_frames
        ]
        self._states = {
            index: cdr.template(TactileState, self._state(index)) for index in simulation.pad_states.pads
        }
        self._cloud = cdr.template(
            PointCloud2,
            {
                "header": header,
                "height": 1,
                "width": len(self._points),
                "fields": [
                    {"name": name, "offset": offset, "datatype": kind, "count": 1}
                    for name, offset, _, kind in _POINT_FIELDS
                ],
                "point_step": POINT.itemsize,
                "row_step": self._points.nbytes,
                "data": cdr.Payload(),
                "is_dense": True,
            },
        )
        # Index -1, a flex, refers to the last entry.
        bodies, geoms = [*simulation.names.bodies, ""], [*simulation.names.geoms, ""]
        sensing = simulation.sensing.tolist()
        contact = {
            "body1": cdr.Lookup(Contacts.BODIES, bodies),
            "body2": cdr.Lookup(Contacts.BODIES + 1, bodies),
            "geom1": cdr.Lookup(Contacts.GEOMS, geoms),
            "geom2": cdr.Lookup(Contacts.GEOMS + 1, geoms),
            "geom1_id": cdr.IntColumn(Contacts.GEOMS),
            "geom2_id": cdr.IntColumn(Contacts.GEOMS + 1),
            "sensing1": cdr.Lookup(Contacts.BODIES, sensing),
            "sensing2": cdr.Lookup(Contacts.BODIES + 1, sensing),
            "position": cdr.Value(Contacts.POSITION),
            "normal": cdr.Value(Contacts.FRAME),
            "tangent1": cdr.Value(Contacts.FRAME + 3),
            "tangent2": cdr.Value(Contacts.FRAME + 6),
            "distance": cdr.Value(Contacts.DISTANCE),
            "wrench": cdr.Value(Contacts.WRENCH_WORLD),
            "contact_force": cdr.Value(Contacts.WRENCH),
            "relative_velocity": cdr.Value(Contacts.VELOCITY),
        }
        self._contacts = cdr.template(ContactWrenchArray, {"header": header, "contacts": cdr.Repeat(contact)})
        self._joints = cdr.template(
            JointState,
            {
                "header": {"stamp": cdr.STAMP},
                "name": simulation.commander.joint_names,
                "position": cdr.RowRange(0, 3),
                "velocity": cdr.RowRange(1, 3),
                "effort": cdr.RowRange(2, 3),
            },
        )

    # -- time and frames -------------------------------------------------------------------------------------

    def clock(self, snapshot: Snapshot) -> bytes:
        """Return the message of the topic ``/clock``."""
        return self._clock.fill(max(snapshot.stamp, self.first_clock))

    def transforms(self, snapshot: Snapshot) -> bytes:
        """Return ``/tf``: moving bodies in the frames of their parents in the model."""
        engine = self._simulation.engine
        poses = relative_poses(
            engine.body_positions,
            engine.body_quaternions,
            engine.body_rotations,
            self._moving,
            engine.model.body_parentid,
        )
        return self._transforms.fill(snapshot.stamp, self._families, poses)

    def static_transforms(self, stamp: int) -> bytes:
        """Return ``/tf_static``: bodies without joints, and the frames of sensors."""
        model, sensors = self._simulation.engine.model, self._simulation.sensor_frames
        children = model.nbody + np.arange(len(sensors.names))
        families = np.stack([sensors.bodies, children], axis=1)
        positions = np.concatenate([model.body_pos[self._fixed], *[[p] for p in sensors.positions]])
        quaternions = np.concatenate([model.body_quat[self._fixed], *[[q] for q in sensors.quaternions]])
        return self._transforms.fill(
            stamp,
            np.concatenate([_families(model, self._fixed), families]).astype(np.int32),
            np.hstack([positions, to_xyzw(quaternions)]),
        )

    # -- the skin --------------------------------------------------------------------------------------------

    def layout(self, index: int, stamp: int) -> bytes:
        """Return ``tactile/<pad>/layout``."""
        skin = self._simulation.skin
        pad = skin.pads[index]
        taxels = slice(pad.start, pad.stop)
        return cdr.encode(
            TactileLayout,
            {
                "header": {"stamp": stamp, "frame_id": self._pad_frames[index]},
                "layout_id": self._layout_id,
                "pad": pad.name,
                "body": self._bodies[index],
                "spacing": pad.spacing,
                "positions": skin.positions[taxels].ravel(),
                "normals": skin.normals[taxels].ravel(),
                "orientations": _quaternions(skin.axes[taxels]).ravel(),
                "ids": skin.ids[taxels],
                "rows": pad.rows,
                "columns": pad.columns,
                "areas": skin.areas[taxels],
                "triangles": pad.triangles.ravel(),
                "geoms": [self._simulation.names.geoms[geom] for geom in pad.geom_ids],
                "geom_index": skin.geom_index[taxels] if len(pad.geom_ids) else [],
            },
        )

    def array(self, index: int, snapshot: Snapshot) -> bytes:
        """Return ``tactile/<pad>/array``."""
        return self._array(index, snapshot, snapshot.taxels32, snapshot.valid)

    def truth(self, index: int, snapshot: Snapshot) -> bytes:
        """Return ``tactile/<pad>/truth``: the readings before the signal chain."""
        return self._array(index, snapshot, snapshot.truth, _ALL_VALID)

    def frame(self, snapshot: Snapshot) -> bytes:
        """Return ``tactile/frame``: the readings of all pads."""
        return self._skin().frame.fill(snapshot.stamp, snapshot.taxels32, snapshot.valid)

    def _array(self, index: int, snapshot: Snapshot, readings: np.ndarray, valid: np.ndarray) -> bytes:
        """Return the TactileArray of one pad from readings (n, channels) of the skin and `Snapshot.valid`."""
        forms, pad = self._skin(), self._simulation.skin.pads[index]
        data = readings[pad.start : pad.stop]
        if forms.channels[index] < readings.shape[1] or readings.dtype != np.float32:
            data = np.ascontiguousarray(data[:, : forms.channels[index]], np.float32)
        if len(valid):
            valid = valid[pad.start : pad.stop]
            valid = _ALL_VALID if valid.all() else valid
        return forms.arrays[index].fill(snapshot.stamp, data, valid)

    def wrench(self, index: int, snapshot: Snapshot) -> bytes:
        """Return ``tactile/<pad>/wrench``: the net wrench on its body."""
        return self._wrenches[index].fill(snapshot.stamp, values=snapshot.wrenches[index : index + 1])

    def state(self, index: int, snapshot: Snapshot) -> bytes:
        """``tactile/<pad>/state`` of one pad that has a state."""
        flags, values = snapshot.pad_table
        row = self._simulation.pad_states.pads.index(index)
        return self._states[index].fill(snapshot.stamp, flags[row : row + 1], values[row : row + 1])

    def _state(self, index: int) -> dict[str, Any]:
        flags = {
            name: cdr.Lookup(column, [False, True]) for column, name in enumerate(("contact_raw", "contact"))
        }
        return {
            "header": {"stamp": cdr.STAMP, "frame_id": self._pad_frames[index]},
            "pad": self.pad_names[index],
            "body": self._bodies[index],
            **flags,
            **{name: cdr.Value(column) for name, column in STATE_COLUMNS.items()},
        }

    def points(self, snapshot: Snapshot) -> bytes:
        """Return ``tactile/points``; intensity is the magnitude of the force [N]."""
        points = self._points
        # All fields are four bytes wide or padded to it.
        _fill_points(points.view("<f4").reshape(len(points), POINT.itemsize // 4), *snapshot.cloud)
        return self._cloud.fill(snapshot.stamp, data=points.view(np.uint8))

    def _skin(self) -> _SkinForms:
        """Return the templates for the present touch functions."""
        common = self._simulation.settings.skin.touch_function
        if common not in self._skins:
            quantities = self._simulation.functions.quantities
            functions = [TOUCH_FUNCTIONS[quantity] for quantity in quantities]
            frames = [
                self.world if function.frame == "world" else frame
                for function, frame in zip(functions, self._pad_frames, strict=True)
            ]
            arrays = [
                {
                    "header": {"stamp": cdr.STAMP, "frame_id": frames[k]},
                    "layout_id": self._layout_id,
                    "pad": self.pad_names[k],
                    "body": self._bodies[k],
                    "quantity": quantities[k],
                    "unit": function.unit,
                    "taxel_count": int(self._counts[k]),
                    "channels": function.channels,
                }
                for k, function in enumerate(functions)
            ]
            channels = [function.channels for function in functions]
            frame = {
                "header": {"stamp": cdr.STAMP, "frame_id": self.world},
                "layout_id": self._layout_id,
                "unit": self._simulation.functions.unit,
                "channels": self._simulation.functions.channels,
                "pads": self.pad_names,
                "bodies": self._bodies,
                "frame_ids": frames,
                "taxel_counts": self._counts,
            }
            if len(set(quantities)) > 1:
                frame |= {
                    "quantities": quantities,
                    "units": [function.unit for function in functions],
                    "pad_channels": channels,
                }
            else:
                frame["quantity"] = next(iter(quantities), common)
            self._skins[common] = _SkinForms(
                _ReadingsForm(TactileFrame, frame),
                [_ReadingsForm(TactileArray, array) for array in arrays],
                channels,
            )
        return self._skins[common]

    # -- contacts and joints ---------------------------------------------------------------------------------

    def contacts(self, snapshot: Snapshot) -> bytes:
        """Return the message of the topic ``contacts``."""
        contacts = snapshot.contacts
        return self._contacts.fill(snapshot.stamp, contacts.ids, contacts.values)

    def joint_states(self, snapshot: Snapshot) -> bytes:
        """Return the message of the topic ``joint_states``."""
        told = np.concatenate(snapshot.joint_states).reshape(-1, 1)
        return self._joints.fill(snapshot.stamp, self._joint_parts, points=told)


class _SkinForms(NamedTuple):
    """Templates of the messages with readings, for the touch functions of all pads."""

    frame: _ReadingsForm
    arrays: list[_ReadingsForm]
    channels: list[int]
    """Of each pad."""


class _ReadingsForm:
    """Template of a message with readings. It exists twice, because most messages have all taxels valid."""

    def __init__(self, kind: type, fields: dict[str, Any]):
        self._all_valid = cdr.template(kind, fields | {"data": cdr.Payload()})
        self._make = lambda: cdr.template(kind, fields | {"valid": cdr.Payload(), "data": cdr.Payload()})
        self._some_valid: cdr.MessageTemplate | None = None

    def fill(self, stamp: int, data: np.ndarray, valid: np.ndarray) -> bytes:
        """Return the message with readings float32 and `Snapshot.valid`."""
        if not len(valid):
            return self._all_valid.fill(stamp, data=data)
        self._some_valid = self._some_valid or self._make()
        return self._some_valid.fill(stamp, data=(valid, data))


def _quaternions(axes: np.ndarray) -> np.ndarray:
    """Return the orientations (n, 4) xyzw of axes (n, 3, 3), whose rows are x, y and z."""
    return Rotation.from_matrix(axes.transpose(0, 2, 1)).as_quat()


def _families(model: mujoco.MjModel, bodies: np.ndarray) -> np.ndarray:
    """Return the ids (n, 2) int32 of each body's parent and of the body itself."""
    return np.stack([model.body_parentid[bodies], bodies], axis=1).astype(np.int32)


@kernel
def _fill_points(rows: np.ndarray, positions: np.ndarray, forces: np.ndarray) -> None:
    for n in range(len(rows)):
        square = 0.0
        for i in range(3):
            rows[n, i] = positions[n, i]
            rows[n, 4 + i] = forces[n, i]
            square += forces[n, i] ** 2
        rows[n, 3] = np.sqrt(square)
