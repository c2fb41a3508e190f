"""Compare the times to publish messages built from rclpy objects or encoded from arrays as CDR bytes.

Run as ``python bench/encoder.py``. Values are medians of one run; compare the ratios, since absolute times
depend on the machine.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import rclpy
from geometry_msgs.msg import Point, Quaternion, TransformStamped, Vector3
from rclpy.publisher import Publisher
from rich.console import Console
from rich.table import Table
from std_msgs.msg import ColorRGBA
from tactile_sim.msg import ContactWrench, ContactWrenchArray
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from tactile_sim.ros import cdr

RNG = np.random.default_rng(0)
POINTS, COLORS = RNG.random((5000, 3)), RNG.random((5000, 4), dtype=np.float32)
WORLD = {"stamp": 1_500_000_000, "frame_id": "world"}
CONTACTS, TRANSFORMS, ARROWS = 50, 45, 50


def marker_objects() -> Marker:
    """Return a point marker built with one object per point and per color."""
    message = Marker(type=Marker.POINTS)
    message.header.frame_id = "world"
    message.points = [Point(x=x, y=y, z=z) for x, y, z in POINTS.tolist()]
    message.colors = [ColorRGBA(r=r, g=g, b=b, a=a) for r, g, b, a in COLORS.tolist()]
    return message


def marker_bytes() -> bytes:
    """Return the message of `marker_objects`, encoded from arrays."""
    return cdr.encode(Marker, {"header": WORLD, "type": Marker.POINTS, "points": POINTS, "colors": COLORS})


VECTORS = {
    name: RNG.random((CONTACTS, 3))
    for name in ("normal", "tangent1", "tangent2", "contact_force", "relative_velocity")
}
POSITIONS, WRENCHES = RNG.random((CONTACTS, 3)), RNG.random((CONTACTS, 6))
BODIES = [f"body{i % 12}" for i in range(CONTACTS)]
GEOMS = [f"body{i % 12}/geom{i % 3}" for i in range(CONTACTS)]
IDS = np.arange(CONTACTS, dtype=np.int32)


def contact_objects() -> ContactWrenchArray:
    """Return contacts built with one object per vector."""
    message = ContactWrenchArray()
    message.header.frame_id = "world"
    for i, body, geom, position, wrench in zip(
        range(CONTACTS), BODIES, GEOMS, POSITIONS.tolist(), WRENCHES.tolist(), strict=True
    ):
        contact = ContactWrench(body1="floor", geom1="floor", body2=body, geom2=geom, geom1_id=0, geom2_id=i)
        contact.position = Point(x=position[0], y=position[1], z=position[2])
        contact.wrench.force = Vector3(x=wrench[0], y=wrench[1], z=wrench[2])
        contact.wrench.torque = Vector3(x=wrench[3], y=wrench[4], z=wrench[5])
        for name, vectors in VECTORS.items():
            x, y, z = vectors[i].tolist()
            setattr(contact, name, Vector3(x=x, y=y, z=z))
        message.contacts.append(contact)
    return message


STAMPED = {"stamp": cdr.STAMP, "frame_id": "world"}
CONTACT_TEMPLATE = cdr.template(
    ContactWrenchArray,
    {
        "header": STAMPED,
        "contacts": cdr.Repeat(
            {
                "body1": "floor",
                "geom1": "floor",
                "body2": cdr.Lookup(0, BODIES),
                "geom2": cdr.Lookup(0, GEOMS),
                "geom2_id": cdr.IntColumn(0),
                "position": cdr.Value(0),
                "wrench": cdr.Value(3),
                **{name: cdr.Value(9 + 3 * k) for k, name in enumerate(VECTORS)},
            }
        ),
    },
)


def contact_bytes() -> bytes:
    """Return the message of `contact_objects`, encoded from arrays with a template."""
    values = np.concatenate([POSITIONS, WRENCHES, *VECTORS.values()], axis=1)
    return CONTACT_TEMPLATE.fill(WORLD["stamp"], IDS[:, None], values)


TRANSLATIONS, ROTATIONS = RNG.random((TRANSFORMS, 3)), RNG.random((TRANSFORMS, 4))
CHILDREN = [f"body{i}" for i in range(TRANSFORMS)]


def transform_objects() -> TFMessage:
    """Build transforms from ROS message objects."""
    message = TFMessage()
    for child, (x, y, z), (a, b, c, d) in zip(
        CHILDREN, TRANSLATIONS.tolist(), ROTATIONS.tolist(), strict=True
    ):
        transform = TransformStamped(child_frame_id=child)
        transform.header.frame_id = "world"
        transform.transform.translation = Vector3(x=x, y=y, z=z)
        transform.transform.rotation = Quaternion(x=a, y=b, z=c, w=d)
        message.transforms.append(transform)
    return message


TRANSFORM = {"header": STAMPED, "child_frame_id": cdr.Lookup(0, CHILDREN), "transform": cdr.Value(0)}
TRANSFORM_TEMPLATE = cdr.template(TFMessage, {"transforms": cdr.Repeat(TRANSFORM)})


def transform_bytes() -> bytes:
    """Return the message of `transform_objects`, encoded from arrays with a template."""
    values = np.concatenate([TRANSLATIONS, ROTATIONS], axis=1)
    return TRANSFORM_TEMPLATE.fill(WORLD["stamp"], IDS[:TRANSFORMS, None], values)


TIPS = RNG.random((ARROWS, 2, 3))


def arrow_objects() -> MarkerArray:
    """Build two-point arrow markers from ROS message objects."""
    message = MarkerArray()
    for i, points in enumerate(TIPS.tolist()):
        marker = Marker(type=Marker.ARROW, id=i)
        marker.header.frame_id = "world"
        marker.points = [Point(x=x, y=y, z=z) for x, y, z in points]
        message.markers.append(marker)
    return message


ARROW = {"header": STAMPED, "type": Marker.ARROW, "id": cdr.IntColumn(0), "points": cdr.RowRange(1, 2)}
ARROW_TEMPLATE = cdr.template(MarkerArray, {"markers": cdr.Repeat(ARROW)})


def arrow_bytes() -> bytes:
    """Return the message of `arrow_objects`, encoded from arrays with a template."""
    ids = np.arange(ARROWS, dtype=np.int32)
    keys = np.stack([ids, 2 * ids, np.full_like(ids, 2)], axis=1)
    return ARROW_TEMPLATE.fill(WORLD["stamp"], keys, points=TIPS.reshape(-1, 3))


CASES: list[tuple[str, type, Callable[[], object], Callable[[], bytes], int]] = [
    ("Marker, 5,000 points and colors", Marker, marker_objects, marker_bytes, 100),
    (f"ContactWrenchArray, {CONTACTS} contacts", ContactWrenchArray, contact_objects, contact_bytes, 10),
    (f"TFMessage, {TRANSFORMS} transforms", TFMessage, transform_objects, transform_bytes, 1),
    (f"MarkerArray, {ARROWS} arrows", MarkerArray, arrow_objects, arrow_bytes, 1),
]


def median_us(publisher: Publisher, make: Callable[[], object], seconds: float = 1.5) -> float:
    """Return the median time to build and publish a message [µs]."""
    times = []
    publisher.publish(make())
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        publisher.publish(make())
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def main() -> None:
    """Measure all messages and print a table."""
    table = Table(title="time to make and publish a message [µs]")
    for title in ("message", "rclpy objects", "CDR encoder", "speedup", "target"):
        table.add_column(title, justify="left" if title == "message" else "right")
    rclpy.init()
    node = rclpy.create_node("encoder_bench")
    for name, message_type, objects, data, wanted in CASES:
        publisher = node.create_publisher(message_type, "bench/" + message_type.__name__.lower(), 10)
        slow, fast = median_us(publisher, objects), median_us(publisher, data)
        verdict = f"≥ {wanted}" if slow / fast >= wanted else f"[red]≥ {wanted}: missed"
        table.add_row(name, f"{slow:,.0f}", f"{fast:,.0f}", f"{slow / fast:,.0f}", verdict)
    node.destroy_node()
    rclpy.shutdown()
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
