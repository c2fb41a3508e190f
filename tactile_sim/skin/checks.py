"""Check the arguments of `Skin`, because native code reads them without bounds checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from tactile_sim.common.errors import CommandError, ConfigError
from tactile_sim.common.schema import as_array, described, is_integer, known, require_arrays
from tactile_sim.engines.contacts import Contacts
from tactile_sim.skin.loads import LOAD, Loads
from tactile_sim.skin.shares import Shares, checked
from tactile_sim.skin.taxels import choose
from tactile_sim.skin.touch_functions import BUILT_IN, NORMAL, SLIP, TOUCH_FUNCTIONS, TouchFunction, name_of

if TYPE_CHECKING:
    from tactile_sim.skin.skin import Skin

FRAMES = "body", "world", "taxel"
"""Valid values of `TouchFunction.frame`."""
_WIDTH, _IDS, _TYPES = Contacts.WIDTH, Contacts.IDS, (np.dtype(np.float64), np.dtype(np.int32))


def require_contacts(
    skin: Skin, contacts: Contacts, body_positions: np.ndarray, body_rotations: np.ndarray
) -> None:
    """Check contacts and the poses of the bodies.

    Args:
        skin: The skin.
        contacts: Contacts in the skin's model.
        body_positions: (nbody, 3) positions of the bodies in the world [m].
        body_rotations: (nbody, 3, 3) rotations from body frames to the world.

    Raises:
        CommandError: An argument has the wrong type or shape, or a body or geom does not exist.
    """
    if not isinstance(contacts, Contacts):
        raise CommandError(f"contacts: must be Contacts, got {described(contacts)}")
    values, ids, bodies = contacts.values, contacts.ids, skin._nbody
    arrays = isinstance(values, np.ndarray) and isinstance(ids, np.ndarray) and ids.ndim == 2
    if not arrays or (
        (values.shape, ids.shape) != ((len(ids), _WIDTH), (len(ids), _IDS))
        or (values.dtype, ids.dtype) != _TYPES
    ):
        raise CommandError(
            f"contacts: must have values (n, {_WIDTH}) float64 and ids (n, {_IDS}) int32,"
            f" got {described(values)} and {described(ids)}"
        )
    require_arrays(
        body_positions=(body_positions, (bodies, 3)), body_rotations=(body_rotations, (bodies, 3, 3))
    )
    if not skin.native.contacts_exist(ids):
        raise CommandError(
            f"contacts: must have ids of {bodies} bodies and {skin._ngeom} geoms, or -1, got contacts of"
            " another model"
        )


def require_loads(skin: Skin, loads: Loads) -> None:
    """Check that loads are valid for a skin.

    Args:
        skin: The skin.
        loads: Loads on the skin.

    Raises:
        CommandError: ``loads`` has the wrong type, or a patch, body or geom does not exist.
    """
    table = loads.table if isinstance(loads, Loads) else None
    if not isinstance(table, np.ndarray) or table.ndim != 1 or table.dtype != LOAD:
        raise CommandError(f"loads: must be Loads with a table (m,), got {described(loads)}")
    if not skin.native.loads_exist(loads.records):
        raise CommandError(
            f"loads: must be on {len(skin.patch_ids)} patches of {len(skin.body_ids)} bodies, got loads of"
            " another skin"
        )


def given_shares(skin: Skin, loads: Loads, given: tuple) -> tuple[Loads, Shares]:
    """Check a result of `Skin.shares` that a caller passed as an argument.

    Args:
        skin: The skin.
        loads: The loads that were distributed.
        given: The result of `Skin.shares`: either the shares of ``loads``, or a pair of the loads that
            replace ``loads`` and their shares.

    Returns:
        The loads that the shares refer to, and the checked shares.

    Raises:
        ConfigError: The shares are inconsistent.
        CommandError: The replacement loads are invalid.
    """
    if not isinstance(given, Shares):
        if len(given) != 2:
            raise ConfigError(f"response: must be Shares, or Loads and Shares, got {given!r:.60}")
        loads, given = given
        require_loads(skin, loads)
    return loads, checked(given, "response", len(loads), len(skin.positions))


def find_touch(touch: str | TouchFunction) -> tuple[TouchFunction, int | None]:
    """Look up and check a touch function.

    Args:
        touch: Name in `TOUCH_FUNCTIONS`, or a touch function.

    Returns:
        The touch function, and the number of its quantity in `BUILT_IN`, which is None if native code does
        not compute it: if ``evaluate`` is user-defined, or averages forces, or does not average `slip`.

    Raises:
        ConfigError: The name is unknown, or the touch function is invalid.
    """
    touch = choose("skin.touch_function", touch, TOUCH_FUNCTIONS)
    channels, _, evaluate, mean, frame, factor, at_taxels = touch
    quantity = number_of(evaluate, BUILT_IN)
    known("skin.touch_function: frame: unknown", frame, FRAMES, ConfigError)
    if not callable(evaluate) or not (factor is None or callable(factor)):
        raise ConfigError(
            f"skin.touch_function: evaluate and factor: must be functions, got {evaluate!r} and {factor!r}"
        )
    for name, given in (("mean", mean), ("at_taxels", at_taxels)):
        if given is not True and given is not False:
            raise ConfigError(f"skin.touch_function: {name}: must be True or False, got {given!r}")
    if not is_integer(channels) or channels < 1:
        raise ConfigError(f"skin.touch_function: channels: must be an integer > 0, got {channels!r}")
    expected = channels if quantity is None else 1 if quantity == NORMAL else 3
    if channels != expected:
        raise ConfigError(
            f"skin.touch_function: channels: must be {expected} for {name_of(evaluate)}, got {channels!r}"
        )
    if frame == "taxel" and channels != 3:
        raise ConfigError(f"{name_of(evaluate)}: the frame 'taxel' requires 3 channels, got {channels}")
    return touch, quantity if mean == at_taxels == (quantity == SLIP) else None


def checked_factor(skin: Skin, factor: Callable[[Skin], np.ndarray]) -> np.ndarray:
    """Return the factors (n,) of a touch function for the n taxels of a skin.

    Args:
        skin: The skin.
        factor: The function `TouchFunction.factor`.

    Raises:
        ConfigError: ``factor`` did not return n numbers.
    """
    given = factor(skin)
    array = as_array(given)
    if array.shape != (len(skin.positions),):
        raise ConfigError(
            f"skin.touch_function: {name_of(factor)} must return {len(skin.positions)} factors,"
            f" got {described(given)}"
        )
    return array


def number_of(function: Callable, numbers: Mapping[Callable, int]) -> int | None:
    """Return ``numbers[function]``, or None if the function is not in ``numbers`` or is not hashable."""
    try:
        return numbers.get(function)
    except TypeError:
        return None
