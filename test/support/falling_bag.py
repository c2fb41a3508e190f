"""Bags with known contents: a cube of 1 kg falls, lands after 0.2 s and rests on a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tactile_sim.bag.writer import BagWriter
from tactile_sim.ros.cdr import encode_struct
from tactile_sim.wire import of_definition

MESSAGES = Path(__file__).resolve().parents[2] / "msg"
TYPES = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Pose": "Point position\nQuaternion orientation",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "geometry_msgs/Transform": "Vector3 translation\nQuaternion rotation",
    "geometry_msgs/TransformStamped": "std_msgs/Header header\nstring child_frame_id\nTransform transform",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Wrench": "Vector3 force\nVector3 torque",
    "sensor_msgs/Image": "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\n"
    "uint8 is_bigendian\nuint32 step\nuint8[] data",
    "sensor_msgs/PointCloud2": "std_msgs/Header header\nuint32 height\nuint32 width\nPointField[] fields\n"
    "bool is_bigendian\nuint32 point_step\nuint32 row_step\nuint8[] data\nbool is_dense",
    "sensor_msgs/PointField": "string name\nuint32 offset\nuint8 datatype\nuint32 count",
    "std_msgs/ColorRGBA": "float32 r\nfloat32 g\nfloat32 b\nfloat32 a",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "std_msgs/String": "string data",
    "tf2_msgs/TFMessage": "geometry_msgs/TransformStamped[] transforms",
    "visualization_msgs/Marker": "std_msgs/Header header\nstring ns\nint32 id\nint32 type\nint32 action\n"
    "geometry_msgs/Pose pose\ngeometry_msgs/Vector3 scale\nstd_msgs/ColorRGBA color\n"
    "geometry_msgs/Point[] points",
    "visualization_msgs/MarkerArray": "Marker[] markers",
} | {f"tactile_sim/{file.stem}": file.read_text() for file in MESSAGES.glob("*.msg")}

MS = 1_000_000
STEP, COUNT = 20 * MS, 51
LANDING = 10
"""Index of the message at the time of landing; messages are 20 ms apart."""
WEIGHT, IMPACT = 9.81, 3 * 9.81
"""Force on the cube at rest and at landing [N]."""
HALF = 0.1
"""Half the edge length of the cube [m]."""
GRID = 5
"""Number of taxels along an edge. The taxels of the lower face come first."""
LAYOUT = 7
FEELER = 0.05
"""Length of a feeler [m]."""
ASIDE = [0.3, 0.3, -0.2]
RAMP = np.array([[0.2, 0, 0], [0.4, 0, 0], [0.4, 0.2, 0.1], [0.2, 0, 0], [0.4, 0.2, 0.1], [0.2, 0.2, 0.1]])
"""Corners of two triangles in the scene [m]."""


def definition(name: str) -> str:
    """Return the definition of a message type, followed by those of all types that it uses."""
    found, waiting = {}, [name]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found[current] = TYPES[current]
            for line in TYPES[current].splitlines():
                kind = line.split("#")[0].split()[0].partition("[")[0] if line.split("#")[0].split() else ""
                local = f"{current.partition('/')[0]}/{kind}"
                waiting += [used for used in (kind, local) if used in TYPES]
    head = found.pop(name)
    return head + "".join(f"\n{'=' * 80}\nMSG: {used}\n{text}" for used, text in found.items())


class Making:
    """Bag writer that accepts the values of a message's fields, and serializes them."""

    def __init__(self, folder: Path) -> None:
        self.bag = BagWriter(folder)
        self._ids: dict[str, tuple[int, Any]] = {}

    def put(self, topic: str, type_name: str, time: int, value: dict[str, Any]) -> None:
        package, name = type_name.split("/")
        if topic not in self._ids:
            text, full = definition(type_name), f"{package}/msg/{name}"
            number = self.bag.add_topic(topic, full, text, [])
            self._ids[topic] = number, of_definition(full, text)
        number, kind = self._ids[topic]
        self.bag.write(number, time, encode_struct(kind, value))


@dataclass
class Cube:
    """Data of a falling cube; topics whose names contain a text in ``without`` are omitted."""

    namespace: str = ""
    without: Sequence[str] = ()
    bodies: Sequence[str] = ("cube",)
    """Names of the bodies; body k carries 1/(k + 1) times the load on the first one."""
    carrier: str = ""
    """Body of all pads; empty if each pad is on a body of the same name."""
    images: bool = False
    feelers: bool = False
    """Whether the first body has a feeler at each taxel."""
    surface: bool = False
    """Whether the layout contains the triangles between the taxels of the lower face."""
    count: int = COUNT
    positions: np.ndarray = field(init=False)
    normals: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        across = np.linspace(-0.8, 0.8, GRID) * HALF
        first, second = (grid.ravel() for grid in np.meshgrid(across, across))
        places, normals = [], []
        for axis in (2, 1, 0):
            for side in (-1.0, 1.0):
                place, normal = np.zeros((GRID**2, 3)), np.zeros((GRID**2, 3))
                place[:, axis], place[:, axis - 1], place[:, axis - 2] = side * HALF, first, second
                normal[:, axis] = side
                places.append(place)
                normals.append(normal)
        self.positions, self.normals = np.concatenate(places), np.concatenate(normals)

    @staticmethod
    def force(index: int) -> float:
        """Return the force of the table on the cube [N]."""
        return 0.0 if index < LANDING else IMPACT if index == LANDING else WEIGHT

    @staticmethod
    def height(index: int) -> float:
        """Return the height of the cube's center [m]."""
        return HALF + 0.5 * 9.81 * max(0.0, (LANDING * STEP / 1e9) ** 2 - (index * STEP / 1e9) ** 2)

    @staticmethod
    def cover(index: int) -> float:
        """Return the covered fraction of each feeler on the lower face."""
        return max(0.0, 1 - (Cube.height(index) - HALF) / FEELER)

    def forces(self, index: int) -> np.ndarray:
        """Return all taxels' forces (n, 3) [N]; the table's force is spread evenly over the lower face."""
        one = np.zeros((len(self.positions), 3))
        one[: GRID**2, 2] = self.force(index) / GRID**2
        return np.concatenate([one / (k + 1) for k in range(len(self.bodies))])

    def write(self, making: Making) -> None:
        self.write_static(making)
        for index in range(self.count):
            self.write_snapshot(making, index)

    def _put(self, making: Making, topic: str, type_name: str, time: int, value: dict[str, Any]) -> None:
        if not any(part in topic for part in self.without):
            making.put(f"{self.namespace}{topic}", type_name, time, value)

    def write_static(self, making: Making) -> None:
        for body in self.bodies:
            layout = {
                "header": {"stamp": 0, "frame_id": self.carrier or body}, "layout_id": LAYOUT,
                "body": self.carrier or body, "spacing": 0.04,
                "positions": self.positions.ravel(), "normals": self.normals.ravel(),
                "areas": np.full(len(self.positions), 0.0016),
            }  # fmt: skip
            if self.carrier:
                layout["pad"] = body
            if self.surface:
                layout["triangles"] = lower_triangles()
            self._put(making, f"/tactile/{body}/layout", "tactile_sim/TactileLayout", 0, layout)
        if self.feelers:
            feelers = layout | {"lengths": np.full(len(self.positions), FEELER), "body": self.bodies[0]}
            topic = f"/tactile/{self.bodies[0]}/feelers_layout"
            self._put(making, topic, "tactile_sim/TactileLayout", 0, feelers)
        kinds = {"cube": 1, "table": 1, "ball": 2, "leg": 3, "ramp": 11}
        sizes = {"cube": [0.2, 0.2, 0.2], "table": [1, 1, 0.02], "ramp": [1, 1, 1]}
        markers = [
            {
                "header": {"stamp": 0, "frame_id": "cube" if name == "cube" else "table"}, "ns": name,
                "id": number, "type": kind, "color": [0.8, 0.8, 0.8, 1.0],
                "pose": {"position": [0, 0, 0] if name in sizes else ASIDE, "orientation": {"w": 1.0}},
                "scale": sizes.get(name, [0.05, 0.05, 0.3]),
                "points": RAMP if name == "ramp" else [],
            }
            for number, (name, kind) in enumerate(kinds.items())
        ]  # fmt: skip
        self._put(making, "/scene_markers", "visualization_msgs/MarkerArray", 0, {"markers": markers})

    def write_snapshot(self, making: Making, index: int) -> None:
        time, force = index * STEP, self.force(index)
        header = {"stamp": time, "frame_id": "world"}
        if "/tf" not in self.without:
            moves = [(body, [0, 0, self.height(index)]) for body in self.bodies] + [("table", [0, 0, -0.01])]
            transforms = [
                {
                    "header": header, "child_frame_id": name,
                    "transform": {"translation": place, "rotation": {"w": 1.0}},
                }
                for name, place in moves
            ]  # fmt: skip
            making.put("/tf", "tf2_msgs/TFMessage", time, {"transforms": transforms})
        common = {
            "header": header, "layout_id": LAYOUT, "quantity": "force_vector", "unit": "N", "channels": 3,
        }  # fmt: skip
        taxels = self.forces(index)
        n = len(self.positions)
        bodies = [self.carrier or body for body in self.bodies]
        frame = {"bodies": bodies, "frame_ids": bodies, "taxel_counts": [n] * len(bodies)}
        if self.carrier:
            frame["pads"] = self.bodies
        self._put(
            making, "/tactile/frame", "tactile_sim/TactileFrame", time,
            common | frame | {"data": taxels.ravel()},
        )  # fmt: skip
        for k, body in enumerate(self.bodies):
            array = common | {
                "body": bodies[k],
                "taxel_count": n,
                "data": taxels[k * n : (k + 1) * n].ravel(),
            }
            if self.carrier:
                array["pad"] = body
            self._put(making, f"/tactile/{body}/array", "tactile_sim/TactileArray", time, array)
        if self.feelers:
            free = np.full(n, FEELER)
            free[: GRID**2] *= 1 - self.cover(index)
            feelers = {"quantity": "feeler", "unit": "m", "channels": 1, "data": free, "taxel_count": n}
            topic = f"/tactile/{self.bodies[0]}/feelers"
            value = common | {"body": self.bodies[0]} | feelers
            self._put(making, topic, "tactile_sim/TactileArray", time, value)
        corners = np.array([[x, y, 0.0] for x in (-HALF, HALF) for y in (-HALF, HALF)])
        contacts = [
            {
                "body1": "table", "body2": "cube", "geom1_id": 1, "geom2_id": 2, "position": corner,
                "normal": [0, 0, 1], "tangent1": [1, 0, 0], "tangent2": [0, 1, 0],
                "wrench": {"force": [0, 0, force / 4]}, "contact_force": [force / 4, 0, 0],
            }
            for corner in (corners if force else [])
        ]  # fmt: skip
        value = {"header": header, "contacts": contacts}
        self._put(making, "/contacts", "tactile_sim/ContactWrenchArray", time, value)
        if self.images:
            light = np.full((4, 6), 255 if force else 0, np.uint8)
            image = {"header": header, "height": 4, "width": 6, "encoding": "mono8", "step": 6}
            self._put(
                making, "/tactile/cube/image", "sensor_msgs/Image", time, image | {"data": light.ravel()}
            )


def lower_triangles() -> np.ndarray:
    """Return the indices of the taxels at the corners of the lower face's triangles."""
    corner = np.arange(GRID**2).reshape(GRID, GRID)[:-1, :-1].ravel()
    halves = [[0, GRID, 1], [1, GRID, GRID + 1]]
    return np.concatenate([corner[:, None] + half for half in halves]).ravel()


class Bags:
    """A factory for bags, each in a new folder."""

    def __init__(self, folders: Callable[[str], Path]) -> None:
        self._folders = folders

    def folder(self, name: str) -> Path:
        """Return the path of a new folder."""
        return self._folders("bags") / name

    def __call__(self, *cubes: Cube) -> Path:
        """Write a bag of these cubes, or by default of one cube."""
        making = Making(self.folder("fall"))
        for cube in cubes or (Cube(),):
            cube.write(making)
        making.bag.close()
        return making.bag.folder


@pytest.fixture(scope="session")
def make_bag(tmp_path_factory) -> Bags:
    """Return a factory for bags."""
    return Bags(tmp_path_factory.mktemp)


@pytest.fixture(scope="session")
def fall(make_bag) -> Path:
    """Return a bag of one cube. It is shared by all tests, so they must not modify it."""
    return make_bag()
