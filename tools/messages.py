"""Generate docs/messages.md, the reference of messages and services: python tools/messages.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tactile_sim.simulation.actions import ACTIONS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "messages.md"
HEAD = """# Messages and services

The linked files are the specification of this package's messages: the comment on each field states its unit,
frame and order; `ros2 interface show` prints it. The [bridges](bridges.md) publish additional topics.
"""

TOPICS = (
    ("tactile/<pad>/array", "tactile_sim/msg/TactileArray", "tactile", "readings of a pad"),
    ("tactile/<pad>/wrench", "geometry_msgs/msg/WrenchStamped", "tactile", "net wrench on the pad's body"),
    ("tactile/<pad>/state", "tactile_sim/msg/TactileState", "tactile", "state of pads in `skin.state`"),
    ("tactile/<pad>/truth", "tactile_sim/msg/TactileArray", "tactile", "readings before the signal chain"),
    ("tactile/<pad>/layout", "tactile_sim/msg/TactileLayout", "once", "taxels of the pad"),
    ("tactile/frame", "tactile_sim/msg/TactileFrame", "tactile", "readings of all pads"),
    ("tactile/points", "sensor_msgs/msg/PointCloud2", "points", "taxels and forces in the world frame"),
    ("tactile/<body>/feelers", "tactile_sim/msg/TactileArray", "feelers", "free length of each feeler"),
    ("tactile/<body>/feelers_layout", "tactile_sim/msg/TactileLayout", "once", "feelers of the body"),
    ("tactile/<body>/image", "sensor_msgs/msg/Image", "images", "skin or feelers, unrolled by the UV map"),
    ("tactile/<body>/force_image", "sensor_msgs/msg/Image", "images", "skin of a body with feelers"),
    ("tactile/<body>/<geom>/image", "sensor_msgs/msg/Image", "images", "feelers, if a body has several maps"),
    ("tactile/<body>/image/compressed", "sensor_msgs/msg/CompressedImage", "images", "as PNG"),
    ("tactile/<body>/force_image/compressed", "sensor_msgs/msg/CompressedImage", "images", "as PNG"),
    (
        "tactile/<body>/<geom>/image/compressed",
        "sensor_msgs/msg/CompressedImage",
        "images",
        "as PNG",
    ),
    ("cameras/<name>/image", "sensor_msgs/msg/Image", "images", "rgb8; [cameras](cameras.md)"),
    ("cameras/<name>/depth", "sensor_msgs/msg/Image", "images", "32FC1 [m], if `depth` is set"),
    ("cameras/<name>/camera_info", "sensor_msgs/msg/CameraInfo", "images", "calibration"),
    ("contacts", "tactile_sim/msg/ContactWrenchArray", "contacts", "contacts with a nonzero force"),
    ("contact_sensors/<name>", "tactile_sim/msg/ContactSensor", "sensors", "MuJoCo's contact sensors"),
    ("sensors/<name>", "", "sensors", "other sensors; [types](contact_sensors.md)"),
    ("joint_states", "sensor_msgs/msg/JointState", "joint_states", "hinge and slide joints"),
    ("finger/applied_torque", "sensor_msgs/msg/JointState", "joint_states", "TriFinger only"),
    ("finger/tip_force", "std_msgs/msg/Float64MultiArray", "joint_states", "TriFinger only"),
    (
        "finger/object_pose",
        "geometry_msgs/msg/PoseStamped",
        "sensors",
        "TriFinger only; [the cube as the platform tracks it](trifinger.md#cameras-and-object-pose)",
    ),
    ("markers", "visualization_msgs/msg/MarkerArray", "markers", "contacts, net forces and feelers for RViz"),
    (
        "skin_markers",
        "visualization_msgs/msg/MarkerArray",
        "markers",
        "triangles of the skin in contact, for RViz",
    ),
    ("scene_markers", "visualization_msgs/msg/MarkerArray", "once", "the scene for RViz"),
    (
        "scene_update",
        "foxglove_msgs/msg/SceneUpdate",
        "once",
        "the scene for Foxglove, if foxglove_msgs is installed",
    ),
    (
        "web_view",
        "std_msgs/msg/String",
        "once",
        "camera and color scale of the [view](view.md#the-view-in-a-bag), only with `--web`",
    ),
    ("robot_description", "std_msgs/msg/String", "once", "URDF"),
    ("/tf", "tf2_msgs/msg/TFMessage", "tf", "moving bodies"),
    ("/tf_static", "tf2_msgs/msg/TFMessage", "once", "fixed bodies and sensor frames"),
    ("/clock", "rosgraph_msgs/msg/Clock", "clock", "simulation time"),
    ("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", "diagnostics", "status of the node"),
)
"""Name, type, key in ``rates`` ("once" for latched topics) and description of each topic."""


def page() -> str:
    """Return docs/messages.md as Markdown."""
    return "\n".join([HEAD, *_topics(), *_services()]) + "\n"


def _linked(kind: str) -> str:
    """Return a type as Markdown, linked to its file if this package defines it."""
    package, *rest = kind.split("/")
    if package != "tactile_sim":
        return f"`{kind}`" if kind else ""
    folder, name = rest
    return f"[`{name}`](../{folder}/{name}.{folder})"


def _topics() -> Iterator[str]:
    """Yield the lines of the table of topics."""
    yield "## Topics\n\n| topic | type | `rates` | |\n|---|---|---|---|"
    for name, kind, stream, meaning in TOPICS:
        yield f"| `{name}` | {_linked(kind)} | {stream} | {meaning} |"


def _services() -> Iterator[str]:
    """Yield the lines of the table of services."""
    yield "\n## Services\n\n| service | type | |\n|---|---|---|"
    for action in ACTIONS.values():
        if action.service:
            yield f"| `~/{action.name}` | {_linked(action.service)} | {action.description} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
