"""Topics for the skin and for feelers: several for each pad or body, and all taxels in one message."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import PointCloud2, PointField

from tactile_sim import _core
from tactile_sim.common.names import topic_token
from tactile_sim.feelers.feelers import FeelerBody
from tactile_sim.msg import TactileArray, TactileFrame, TactileLayout, TactileState
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
"""Memory layout of one taxel in ``tactile/points``."""
_ALL_VALID = np.empty(0, np.uint8)


def pad_topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield the topics of each pad, ``tactile/frame`` and ``tactile/points``."""
    skin, world = simulation.skin, simulation.settings.world_frame
    counts = np.diff(skin.offsets).astype(np.uint32)
    layout_id = zlib.crc32(b"".join(part.tobytes() for part in (skin.positions, skin.axes, skin.ids, counts)))
    for k in range(len(skin.pads)):
        yield from _pad_topics(simulation, k, layout_id)
    frames = [simulation.frames[pad.body_id] for pad in skin.pads]

    def frame_fields(quantities: Sequence[str]) -> dict[str, Any]:
        functions = [TOUCH_FUNCTIONS[quantity] for quantity in quantities]
        fields = {
            "header": header(world),
            "layout_id": layout_id,
            "unit": simulation.functions.unit,
            "channels": simulation.functions.channels,
            "pads": [pad.name for pad in skin.pads],
            "bodies": [simulation.names.bodies[pad.body_id] for pad in skin.pads],
            "frame_ids": [
                world if function.frame == "world" else frame
                for function, frame in zip(functions, frames, strict=True)
            ],
            "taxel_counts": counts,
        }
        if len(set(quantities)) > 1:
            return fields | {
                "quantities": quantities,
                "units": [function.unit for function in functions],
                "pad_channels": simulation.functions.pad_channels,
            }
        return fields | {"quantity": next(iter(quantities), simulation.settings.skin.touch_function)}

    yield _readings(
        simulation,
        "tactile",
        TactileFrame,
        "tactile/frame",
        slice(None),
        frame_fields,
        lambda snapshot: (snapshot.readings32, snapshot.valid),
    )
    yield _points(simulation)


def _pad_topics(simulation: Simulation, k: int, layout_id: int) -> Iterator[Topic]:
    """Yield the topics of one pad: array, wrench, state, truth and layout, relative to ``tactile/<pad>``.

    The state is published only for pads with a state, and the truth only for pads with a signal chain.
    """
    skin, pad = simulation.skin, simulation.skin.pads[k]
    body, frame = simulation.names.bodies[pad.body_id], simulation.frames[pad.body_id]
    taxels, stream = slice(pad.start, pad.stop), simulation.schedule.pad_stream(pad.name)
    place = f"tactile/{topic_token(pad.name)}"

    def array_fields(quantities: Sequence[str]) -> dict[str, Any]:
        [quantity] = quantities
        function = TOUCH_FUNCTIONS[quantity]
        return {
            "header": header(simulation.settings.world_frame if function.frame == "world" else frame),
            "layout_id": layout_id,
            "pad": pad.name,
            "body": body,
            "quantity": quantity,
            "unit": function.unit,
            "taxel_count": pad.stop - pad.start,
            "channels": function.channels,
        }

    def of_pad(readings: np.ndarray) -> np.ndarray:
        channels = TOUCH_FUNCTIONS[simulation.functions.quantities[k]].channels
        own = readings[taxels, :channels]
        return own if own.flags.c_contiguous and own.dtype == np.float32 else np.ascontiguousarray(own, "f4")

    def array(snapshot: Snapshot) -> tuple[np.ndarray, np.ndarray]:
        return of_pad(snapshot.readings32), snapshot.valid[taxels]

    yield _readings(simulation, stream, TactileArray, f"{place}/array", slice(k, k + 1), array_fields, array)
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
            slice(k, k + 1),
            array_fields,
            lambda snapshot: (of_pad(snapshot.truth), _ALL_VALID),
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
            "geom_index": skin.geom_index[taxels] if len(pad.geom_ids) else [],
        },
    )


def _readings(
    simulation: Simulation,
    stream: str,
    message_type: type,
    name: str,
    pads: slice,
    fields: Callable[[Sequence[str]], Mapping[str, Any]],
    read: Callable[[Snapshot], tuple[np.ndarray, np.ndarray]],
) -> Topic:
    """Declare a topic for readings. Its messages follow changes of the touch functions at run time.

    - ``read``: Returns the readings (taxels, channels) float32 and the part of `Snapshot.valid` for the
      taxels.
    """

    @cache
    def template(quantities: tuple[str, ...], all_valid: bool) -> cdr.MessageTemplate:
        payloads = ("data",) if all_valid else ("valid", "data")
        return cdr.template(message_type, {**fields(quantities), **dict.fromkeys(payloads, cdr.Payload())})

    def make(snapshot: Snapshot) -> bytes:
        data, valid = read(snapshot)
        all_valid = not len(valid) or bool(valid.all())
        form = template(simulation.functions.quantities[pads], all_valid)
        return form.fill(snapshot.stamp, data=data if all_valid else (valid, data))

    frames = tuple(simulation.frames[pad.body_id] for pad in simulation.skin.pads[pads])
    return Topic(stream, message_type, name, make, frames=frames)


def _points(simulation: Simulation) -> Topic:
    """Declare the topic ``tactile/points``, with the positions of all taxels in the world frame [m].

    The fields ``fx``, ``fy`` and ``fz`` are the force on a taxel in the world frame and ``intensity`` is its
    magnitude [N]. ``body`` is the index of the pad, and ``taxel`` is the index of the taxel within the pad.
    """
    skin = simulation.skin
    number = len(skin.positions)
    size = number * POINT.itemsize
    # All fields are four bytes wide or padded to it.
    shape = number, POINT.itemsize // 4

    def make(snapshot: Snapshot) -> bytes:
        forces = snapshot.ideal_readings("force_vector_global", np.float32)
        message, content = template.reserve(snapshot.stamp, size)
        rows = content.view(np.float32).reshape(shape)
        rows[:, :3] = snapshot.taxel_positions_world
        _core.write_point_forces(rows, forces, skin.offsets)
        return message

    fields = {
        "header": header(simulation.settings.world_frame),
        "height": 1,
        "width": number,
        "fields": [
            {"name": name, "offset": offset, "datatype": kind, "count": 1}
            for name, offset, _, kind in _POINT_FIELDS
        ],
        "point_step": POINT.itemsize,
        "row_step": size,
        "data": cdr.Payload(),
        "is_dense": True,
    }
    template = cdr.template(PointCloud2, fields)
    return Topic("points", PointCloud2, "tactile/points", make)


def feeler_topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield two topics for each body with feelers: their free lengths [m] and their layout."""
    feelers = simulation.feelers
    parts = [feelers.positions, feelers.normals, feelers.lengths, feelers.offsets]
    layout_id = zlib.crc32(b"".join(part.tobytes() for part in parts))
    for body in feelers.bodies:
        yield from _feelers_of_body(simulation, body, layout_id)


def _feelers_of_body(simulation: Simulation, body: FeelerBody, layout_id: int) -> Iterator[Topic]:
    placed, token, frame = body.placed, topic_token(body.name), simulation.frames[body.body_id]
    fields = {
        "header": header(frame),
        "layout_id": layout_id,
        "pad": body.name,
        "body": body.name,
        "quantity": "feeler",
        "unit": "m",
        "taxel_count": body.stop - body.start,
        "channels": 1,
        "data": cdr.Payload(),
    }
    yield filled(
        "feelers",
        TactileArray,
        f"tactile/{token}/feelers",
        fields,
        lambda snapshot: {"data": snapshot.feelers[body.start : body.stop].astype(np.float32)},
    )
    yield latched(
        TactileLayout,
        f"tactile/{token}/feelers_layout",
        lambda stamp: {
            "header": header(frame, stamp),
            "layout_id": layout_id,
            "pad": body.name,
            "body": body.name,
            "spacing": placed.spacing,
            "positions": placed.positions.ravel(),
            "normals": placed.normals.ravel(),
            "geoms": [simulation.names.geoms[part.geom_id] for part in placed.parts],
            "geom_index": placed.geom_index,
            "lengths": placed.lengths,
            "uv": placed.uv.ravel(),
            "image_width": placed.width,
            "image_height": placed.height,
            "pixels": placed.pixels,
        },
    )
