"""Expand xacro files with the package ``xacro`` if it is installed."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tactile_sim.errors import SceneError

NAMESPACE = "http://www.ros.org/wiki/xacro"


def is_xacro(robot: ElementTree.Element) -> bool:
    """Return whether a URDF contains xacro elements."""
    return any(element.tag.startswith(f"{{{NAMESPACE}}}") for element in robot.iter())


def expand(path: Path, arguments: Mapping[str, str], find_package: Callable[[str], Path | None]) -> str:
    """Expand a xacro file to a URDF.

    Args:
        path: The file.
        arguments: Values of ``<xacro:arg>``, keyed by name.
        find_package: Function that returns the folder of a package for ``$(find PACKAGE)``, or None.

    Raises:
        SceneError: Xacro is not installed, or it rejects the file.
    """
    try:
        import xacro
        from xacro import substitution_args
    except ImportError:
        expanded = f"{path.name.split('.')[0]}{'_expanded' * (path.suffixes == ['.urdf'])}.urdf"
        raise SceneError(
            f"{path}: is a xacro file, and the package xacro is not installed; pip install xacro, "
            f"or expand the file: xacro {path.name} > {expanded}"
        ) from None

    def folder(package: str) -> str:
        found = find_package(package)
        if found is None:
            raise SceneError(f"no package {package!r}; add its parent folder to package_paths")
        return str(found)

    try:
        with _finding(substitution_args, folder):
            return xacro.process_file(str(path), mappings=dict(arguments)).toxml()
    except Exception as error:  # xacro raises errors of many kinds
        reason = " ".join(str(error).split()) or type(error).__name__
        raise SceneError(f"{path}: xacro: {reason}") from None


@contextmanager
def _finding(module: object, find: Callable[[str], str]) -> Iterator[None]:
    """Let xacro find packages with ``find`` while the block runs; by default, it searches the ament index."""
    original = module._eval_find  # type: ignore[attr-defined]
    module._eval_find = find  # type: ignore[attr-defined]
    try:
        yield
    finally:
        module._eval_find = original  # type: ignore[attr-defined]
