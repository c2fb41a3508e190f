"""Load message definitions in the format used in bags, which includes the definitions of nested types."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path
from typing import Any

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from tactile_sim.common.errors import BagError
from tactile_sim.wire.sources import of_class
from tactile_sim.wire.types import Sequence, Struct

_SEPARATOR = "\n" + "=" * 80 + "\n"


def message_class(type_name: str) -> Any:
    """Import a message class by the name of its type.

    Args:
        type_name: Name of a type, such as ``std_msgs/msg/Header``.

    Raises:
        BagError: The type is not installed.
    """
    package, _, name = type_name.partition("/msg/")
    try:
        return getattr(importlib.import_module(f"{package}.msg"), name)
    except (ImportError, AttributeError):
        raise BagError(f"the type {type_name} is not installed") from None


@cache
def definition(type_name: str) -> str:
    """Return the ``ros2msg`` definition of a type and its nested types, read from installed ``.msg`` files.

    Args:
        type_name: Name of a type, such as ``std_msgs/msg/Header``.

    Raises:
        BagError: The type or a nested type is not installed, or its ``.msg`` file is missing.
    """
    names = [type_name]
    _collect(of_class(message_class(type_name)), names)
    first, *others = names
    return _SEPARATOR.join(
        [_text(first), *(f"MSG: {name.replace('/msg/', '/')}\n{_text(name)}" for name in others)]
    )


def _collect(kind: Struct, names: list[str]) -> None:
    """Append the names of the types nested in ``kind`` to ``names``, without duplicates."""
    for _, inner, _ in kind.fields:
        element = inner.element if isinstance(inner, Sequence) else inner
        if isinstance(element, Struct) and element.name not in names:
            names.append(element.name)
            _collect(element, names)


def _text(type_name: str) -> str:
    package, _, name = type_name.partition("/msg/")
    try:
        return (Path(get_package_share_directory(package)) / "msg" / f"{name}.msg").read_text(
            encoding="utf-8"
        )
    except (PackageNotFoundError, OSError):
        raise BagError(f"the definition of {type_name} is not installed ({package}/msg/{name}.msg)") from None
