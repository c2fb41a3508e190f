"""Read and write rosbag2's bag description (version 9, ROS 2 Jazzy).

It is stored in the file ``metadata.yaml`` and in a metadata record of the MCAP file.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tactile_sim.common.errors import BagError
from tactile_sim.common.files import MB, YAML_LOADER, read_file

DEEPEST = 50
_MOST_CHARACTERS = 16 << 20


def parse_yaml(text: str) -> Any:
    """Parse a YAML document and return its value."""
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"must have at most {_MOST_CHARACTERS} characters, got {len(text)}")
    try:
        depth = 0
        for event in yaml.parse(text, Loader=YAML_LOADER):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise ValueError(f"must be nested at most {DEEPEST} deep")
        return yaml.load(text, Loader=YAML_LOADER)
    except (yaml.YAMLError, TypeError, OverflowError) as error:
        raise ValueError(" ".join(str(error).split())) from None


FILE = "metadata.yaml"
_KEY = "rosbag2_bagfile_information"
_MOST_BYTES = 16 * MB


class MetadataError(BagError):
    """Error for invalid metadata of a bag."""


@dataclass
class TopicInfo:
    """A topic in a bag. ``qos`` contains the publishers' QoS profiles as mappings with rosbag2's keys."""

    name: str
    type_name: str
    qos: list[dict[str, Any]] = field(default_factory=list)
    type_hash: str = ""
    count: int = 0


def information(file: str, start: int, stop: int, topics: list[TopicInfo]) -> dict[str, Any]:
    """Return rosbag2's description of a bag."""
    times = {
        "duration": {"nanoseconds": stop - start},
        "starting_time": {"nanoseconds_since_epoch": start},
        "message_count": sum(topic.count for topic in topics),
    }
    return {
        "version": 9,
        "storage_identifier": "mcap",
        **times,
        "topics_with_message_count": [
            {
                "topic_metadata": {
                    "name": topic.name,
                    "type": topic.type_name,
                    "serialization_format": "cdr",
                    "offered_qos_profiles": topic.qos,
                    "type_description_hash": topic.type_hash,
                },
                "message_count": topic.count,
            }
            for topic in topics
        ],
        "compression_format": "",
        "compression_mode": "",
        "relative_file_paths": [file],
        "files": [{"path": file, **times}],
        "custom_data": None,
        "ros_distro": os.environ.get("ROS_DISTRO", "jazzy"),
    }


def document(described: dict[str, Any]) -> str:
    """Return the text of ``metadata.yaml``.

    The file has a single top-level key, ``rosbag2_bagfile_information``, whose value is the description of
    the bag. The metadata record in the MCAP file contains the description without this key.
    """
    return dump({_KEY: described})


def misplaced(text: str) -> bool:
    """Return whether the text of the MCAP metadata record has a top-level key, which rosbag2 rejects.

    Version 0.1 of this package wrote such records.
    """
    return text.startswith(f"{_KEY}:")


def dump(value: Any) -> str:
    """Return a value as YAML in block style, without anchors because some readers do not support them."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, width=1000)


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    def ignore_aliases(self, data: Any) -> bool:
        return True


def replace(folder: Path, content: str) -> None:
    """Replace ``metadata.yaml`` atomically."""
    fresh = folder / (FILE + ".new")
    fresh.write_text(content, encoding="utf-8")
    os.replace(fresh, folder / FILE)


def files_of(path: Path) -> list[Path]:
    """Return the MCAP files of a bag, in the order of its metadata or, without metadata, sorted by name."""
    if os.path.isfile(path):
        return [path]
    if not os.path.exists(path):
        raise BagError(f"{path}: bag not found")
    if not path.is_dir():
        raise BagError(f"{path} is not a bag: it is neither a folder nor a regular file")
    described = path / FILE
    if not described.exists():
        found = sorted(file for file in path.glob("*.mcap") if file.is_file())
        if not found:
            raise BagError(f"{path} is not a bag: it contains neither {FILE} nor an .mcap file")
        return found
    try:
        content = parse_yaml(read_file(described, _MOST_BYTES).decode())
        information = content[_KEY]
        storage, names = information["storage_identifier"], information["relative_file_paths"]
        if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
            raise ValueError("relative_file_paths must be a list of file names")
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise MetadataError(
            f"{described}: invalid: {reason}; rebuild it with: tactile_sim bag repair {path}"
        ) from None
    if storage != "mcap":
        raise BagError(f"{path}: storage must be mcap, got {storage}; convert it with ros2 bag convert")
    files = [path / name for name in names]
    missing = [file for file in files if not os.path.isfile(file)]
    if missing:
        raise BagError(f"{described}: file not found: {missing[0].name}")
    return files
