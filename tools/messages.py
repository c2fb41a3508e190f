"""Generate docs/messages.md, the reference of messages and services: python tools/messages.py."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tactile_sim.simulation.actions import ACTIONS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "messages.md"
HEAD = """# Messages and services

This page is generated from the files in `msg/` and `srv/`, which are the specification, and from the table of
actions in `tactile_sim/simulation/actions.py`. The [bridges](bridges.md) publish additional topics.
"""
FIELD = re.compile(r"(?P<type>\S+) +(?P<name>\w+)(?: +# (?P<meaning>.*))?")


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
    files = [*sorted((ROOT / "msg").glob("*.msg")), *sorted((ROOT / "srv").glob("*.srv"))]
    contents = [f"- [`{file.stem}`](#{file.stem.lower()}){_places(file.stem)}" for file in files]
    sections = (line for file in files for line in _section(file))
    text = "\n".join([HEAD, *contents, *_topics(), *_services(), *sections])
    return re.sub(r"\n{3,}", "\n\n", text) + "\n"


def _places(name: str) -> str:
    """Return the topics or services that use a message or service type, as Markdown."""
    places = [topic for topic, kind, *_ in TOPICS if kind.endswith(f"/{name}")]
    places += [f"~/{action.name}" for action in ACTIONS.values() if action.service.endswith(f"/{name}")]
    return f": {', '.join(f'`{place}`' for place in places)}" if places else ""


def _topics() -> Iterator[str]:
    """Yield the lines of the table of topics."""
    yield "\n## Topics\n\n| topic | type | `rates` | |\n|---|---|---|---|"
    for name, kind, stream, meaning in TOPICS:
        yield f"| `{name}` | {f'`{kind}`' if kind else ''} | {stream} | {meaning} |"


def _services() -> Iterator[str]:
    """Yield the lines of the table of services."""
    yield "\n## Services\n\n| service | type | |\n|---|---|---|"
    for action in ACTIONS.values():
        if action.service:
            yield f"| `~/{action.name}` | `{action.service}` | {action.description} |"


def _section(file: Path) -> Iterator[str]:
    yield f"\n## {file.stem}"
    parts = file.read_text(encoding="utf-8").split("---\n")
    for part, title in zip(parts, ("Request", "Response") if len(parts) == 2 else ("",), strict=True):
        yield from _part(part, title)


def _part(text: str, title: str) -> Iterator[str]:
    lines = text.strip().splitlines()
    comment = [line.removeprefix("#").removeprefix(" ") for line in lines if line.startswith("#")]
    yield from _prose(comment)
    if title:
        yield f"\n{title}:"
    yield "\n| field | type | |\n|---|---|---|"
    for line in lines:
        if line and not line.startswith("#"):
            field = FIELD.fullmatch(line)
            assert field, f"{line!r} is not a field definition"
            yield f"| `{field['name']}` | `{field['type']}` | {field['meaning'] or ''} |"


def _prose(comment: list[str]) -> Iterator[str]:
    """Yield the lines of a comment, with aligned tables as code blocks."""
    columns = False
    for line in ["", *comment]:
        if ("  " in line.strip()) != columns:
            columns = not columns
            yield "\n```text" if columns else "```\n"
        yield line
    if columns:
        yield "```"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
