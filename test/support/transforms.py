"""Find frames in TF messages."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation


def pose_in(transforms, frame: str) -> tuple[Rotation, np.ndarray]:
    """Return the rotation and position of a frame in its parent frame."""
    index = transforms.transforms.child_frame_id.index(frame)
    transform = transforms.transforms.transform
    return Rotation.from_quat(transform.rotation[index]), transform.translation[index]


def tree(message) -> dict[str, str]:
    """Return the parent frame of each frame."""
    transforms = message.transforms
    return dict(zip(transforms.child_frame_id, transforms.header.frame_id, strict=True))
