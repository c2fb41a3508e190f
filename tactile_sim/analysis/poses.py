"""Compute the poses of frames from the transforms in a bag."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.bag.messages import Message

MOVING, STATIC = "/tf", "/tf_static"


class Poses:
    """Tree of frames that is updated with transform messages."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._poses: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def add(self, message: Message) -> None:
        """Update the tree with a TFMessage. Invalid transforms are ignored."""
        transforms = message.value.transforms
        parents, children = transforms.header.frame_id, transforms.child_frame_id
        translations = transforms.transform.translation
        rotations = transforms.transform.rotation
        for parent, child, translation, rotation in zip(
            parents, children, translations, rotations, strict=True
        ):
            # As tf2 does, ignore transforms that are not rotations.
            if np.isfinite(translation).all() and np.isfinite(rotation).all() and np.any(rotation):
                self._parents[child] = parent
                self._poses[child] = translation, rotation

    def __copy__(self) -> Poses:
        made = Poses()
        made._parents, made._poses = dict(self._parents), dict(self._poses)
        return made

    def __contains__(self, frame: str) -> bool:
        return frame in self._poses

    def __bool__(self) -> bool:
        return bool(self._poses)

    def of(self, frames: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return the poses of frames relative to the root of their tree.

        A frame without a transform is its own root.

        Args:
            frames: Names of the f frames.

        Returns:
            Positions (f, 3) [m] and rotation matrices (f, 3, 3).
        """
        known: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        poses = [self._in_root(frame, known, len(self._poses)) for frame in frames]
        if not poses:
            return np.zeros((0, 3)), np.zeros((0, 3, 3))
        return np.stack([position for position, _ in poses]), np.stack([turn for _, turn in poses])

    def parents(self, frames: Sequence[str]) -> np.ndarray:
        """Return, for each frame, the index of the nearest ancestor that is also in ``frames``.

        Args:
            frames: Names of the f frames.

        Returns:
            Indices (f,) in ``frames``; a frame without such an ancestor has its own index.
        """
        known = {frame: k for k, frame in enumerate(frames)}
        nearest = []
        for k, frame in enumerate(frames):
            parent, passed = self._parents.get(frame), {frame}
            while parent is not None and parent not in known and parent not in passed:
                passed.add(parent)  # transforms in corrupt bags can form loops
                parent = self._parents.get(parent)
            nearest.append(known.get(parent or "", k))
        return np.array(nearest, int)

    def _in_root(
        self, frame: str, known: dict[str, tuple[np.ndarray, np.ndarray]], steps: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the position (3,) [m] and the rotation matrix (3, 3) of a frame relative to the root.

        Args:
            frame: Name of the frame.
            known: Cache of computed poses by frame name. This method adds poses to it.
            steps: Maximum recursion depth. It is needed because transforms in corrupt bags can form loops.
        """
        if frame not in known:
            if frame not in self._poses or steps == 0:
                return np.zeros(3), np.eye(3)
            translation, rotation = self._poses[frame]
            position, turn = self._in_root(self._parents[frame], known, steps - 1)
            turned = Rotation.from_quat(rotation).as_matrix()
            known[frame] = position + turn @ translation, turn @ turned
        return known[frame]
