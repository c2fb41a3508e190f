"""The skin: topics of each pad, ``tactile/frame`` and ``tactile/points``."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import PointCloud2, PointField

from tactile_sim.compilation import kernel
from tactile_sim.msg import TactileArray, TactileFrame, TactileLayout, TactileState
from tactile_sim.names import topic_token
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic, filled, header, latched
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


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield the topics of the skin.

    Args:
        simulation: The simulation.
    """
    skin, world = simulation.skin, simulation.settings.world_frame
    counts = np.diff(skin.offsets).astype(np.uint32)
    layout_id = zlib.crc32(b"".join(part.tobytes() for part in (skin.positions, skin.axes, skin.ids, counts)))
    for k in range(len(skin.pads)):
        yield from _pad_topics(simulation, k, layout_id)
    frames = [simulation.frames[pad.body_id] for pad in skin.pads]
    yield _readings(
        simulation,
        "tactile",
        TactileFrame,
        "tactile/frame",
        lambda in_world: {
            "header": header(world),
            "layout_id": layout_id,
            "pads": [pad.name for pad in skin.pads],
            "bodies": [simulation.names.bodies[pad.body_id] for pad in skin.pads],
            "frame_ids": [world] * len(frames) if in_world else frames,
            "taxel_counts": counts,
        },
        lambda snapshot: snapshot.taxels32,
    )
    yield _points(simulation)


def _pad_topics(simulation: Simulation, k: int, layout_id: int) -> Iterator[Topic]:
    """Yield the topics of one pad."""
    skin, pad = simulation.skin, simulation.skin.pads[k]
    body, frame = simulation.names.bodies[pad.body_id], simulation.frames[pad.body_id]
    taxels, stream = slice(pad.start, pad.stop), simulation.stream_of(pad.name)
    place = f"tactile/{topic_token(pad.name)}"

    def array_fields(in_world: bool) -> dict[str, Any]:
        return {
            "header": header(simulation.settings.world_frame if in_world else frame),
            "layout_id": layout_id,
            "pad": pad.name,
            "body": body,
            "taxel_count": pad.stop - pad.start,
        }

    yield _readings(
        simulation,
        stream,
        TactileArray,
        f"{place}/array",
        array_fields,
        lambda snapshot: snapshot.taxels32[taxels],
    )
    yield filled(
        stream,
        WrenchStamped,
        f"{place}/wrench",
        {"header": header(frame), "wrench": cdr.Value(0)},
        lambda snapshot: {"values": snapshot.wrenches[k : k + 1]},
    )
    if k in simulation.pad_states.pads:
        row = slice(simulation.pad_states.pads.index(k), simulation.pad_states.pads.index(k) + 1)
        flags = {name: cdr.Lookup(i, [False, True]) for i, name in enumerate(("contact_raw", "contact"))}
        values = {name: cdr.Value(column) for name, column in STATE_COLUMNS.items()}
        yield filled(
            stream,
            TactileState,
            f"{place}/state",
            {"header": header(frame), "pad": pad.name, "body": body, **flags, **values},
            lambda snapshot: {"keys": snapshot.pad_table[0][row], "values": snapshot.pad_table[1][row]},
        )
    if simulation.signal_chain.staged[k]:
        yield _readings(
            simulation,
            stream,
            TactileArray,
            f"{place}/truth",
            array_fields,
            lambda snapshot: snapshot.truth[taxels].astype(np.float32),
        )
    yield latched(
        TactileLayout,
        f"{place}/layout",
        lambda stamp: {
            "header": header(frame, stamp),
            "layout_id": layout_id,
            "pad": pad.name,
            "body": body,
            "spacing": pad.spacing,
            "positions": skin.positions[taxels].ravel(),
            "normals": skin.normals[taxels].ravel(),
            # The rows of the axes are x, y and z.
            "orientations": Rotation.from_matrix(skin.axes[taxels].transpose(0, 2, 1)).as_quat().ravel(),
            "ids": skin.ids[taxels],
            "rows": pad.rows,
            "columns": pad.columns,
            "areas": skin.areas[taxels],
            "triangles": pad.triangles.ravel(),
            "geoms": [simulation.names.geoms[geom] for geom in pad.geom_ids],
            "geom_index": skin.geom_index[taxels],
        },
    )


def _readings(
    simulation: Simulation,
    stream: str,
    message_type: type,
    name: str,
    fields: Callable[[bool], Mapping[str, Any]],
    data: Callable[[Snapshot], np.ndarray],
) -> Topic:
    """Return a topic with readings of the touch function, which can change at run time.

    Args:
        simulation: The simulation.
        stream: See `Topic`.
        message_type: A message class with the fields ``quantity``, ``unit``, ``channels`` and ``data``.
        name: Name of the topic.
        fields: Returns the other fields; its argument is whether vectors are in the world frame.
        data: Returns the readings, float32.
    """

    @cache
    def template(quantity: str) -> cdr.MessageTemplate:
        function = TOUCH_FUNCTIONS[quantity]
        described = {"quantity": quantity, "unit": function.unit, "channels": function.channels}
        in_world = function.frame == "world"
        return cdr.template(message_type, {**fields(in_world), **described, "data": cdr.Payload()})

    def make(snapshot: Snapshot) -> bytes:
        return template(simulation.settings.skin.touch_function).fill(snapshot.stamp, data=data(snapshot))

    return Topic(stream, message_type, name, make)


def _points(simulation: Simulation) -> Topic:
    """Return the topic of all taxels in the world; intensity is the magnitude of the force [N]."""
    skin = simulation.skin
    points = np.zeros(len(skin.positions), POINT)
    points["body"] = skin.pad_index
    points["taxel"] = np.arange(len(points)) - skin.offsets[skin.pad_index]
    # All fields are four bytes wide or padded to it.
    rows = points.view("<f4").reshape(len(points), POINT.itemsize // 4)

    def parts(snapshot: Snapshot) -> dict[str, np.ndarray]:
        _fill_points(rows, *snapshot.cloud)
        return {"data": points.view(np.uint8)}

    fields = {
        "header": header(simulation.settings.world_frame),
        "height": 1,
        "width": len(points),
        "fields": [
            {"name": name, "offset": offset, "datatype": kind, "count": 1}
            for name, offset, _, kind in _POINT_FIELDS
        ],
        "point_step": POINT.itemsize,
        "row_step": points.nbytes,
        "data": cdr.Payload(),
        "is_dense": True,
    }
    return filled("points", PointCloud2, "tactile/points", fields, parts)


@kernel
def _fill_points(rows: np.ndarray, positions: np.ndarray, forces: np.ndarray) -> None:
    for n in range(len(rows)):
        square = 0.0
        for i in range(3):
            rows[n, i] = positions[n, i]
            rows[n, 4 + i] = forces[n, i]
            square += forces[n, i] ** 2
        rows[n, 3] = np.sqrt(square)
