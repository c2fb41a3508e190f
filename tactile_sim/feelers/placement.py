"""Feelers of a body: painted on its map, or spread evenly over it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.errors import ConfigError, SceneError
from tactile_sim.feelers.covered import MOST_FEELERS, Covered, bearing, in_body, left
from tactile_sim.feelers.evenly import Met, spread
from tactile_sim.feelers.maps import painted_map
from tactile_sim.feelers.painted import brightness
from tactile_sim.feelers.placed import Part, Placed
from tactile_sim.feelers.uv_map import Spots, UvMap, mesh_uv
from tactile_sim.names import Names

LENGTH = 0.1
"""Of a white feeler [m], where none is given."""
LONGEST = 1e6
"""Of all lengths [m]."""


def place(
    model: mujoco.MjModel,
    body_id: int,
    *,
    image: Path | np.ndarray | None = None,
    spacing: float | None = None,
    length: float = LENGTH,
    white_only: bool | None = None,
    where: str = "feelers",
    most: int = MOST_FEELERS,
    met: Met | None = None,
) -> Placed:
    """Place the feelers of a body: painted on an image, or evenly spaced.

    Args:
        model: The model.
        body_id: The body that gets the feelers.
        image: Image that defines where feelers are and how long: white pixels are feelers of the full
            length, grey ones are shorter, black ones are none. It lies on the UV map of the body's mesh, or
            on the unfolded surface of its primitive. ``{geom}`` in the path stands for a geom's name, with
            ``_`` for each ``/``, so that each geom has an image.
        spacing: Without an image, the distance between neighbouring feelers on the body's colliding geoms
            [m].
        length: Length of a white feeler [m], at most `LONGEST`.
        white_only: Whether only the white pixels of the image are feelers. Default: True if the image has
            colours. See `tactile_sim.feelers.painted.brightness` for the definition of white.
        where: Name of the setting, for errors.
        most: Largest allowed number of feelers; below `MOST_FEELERS` if other bodies have feelers too.
        met: Cache of maps and feelers by shape, kept from one call to the next.

    Returns:
        The feelers, in the body's frame.

    Raises:
        ConfigError: A setting or an image is invalid.
        SceneError: A geom cannot have feelers, or its UV map overlaps itself. All messages begin with
            ``where``.
    """
    with _named(where):
        if not 0 < length <= LONGEST:
            raise ConfigError(f"{length!r} is no length; give metres, {LONGEST:g} at most")
        if image is None:
            if white_only is not None:
                raise ConfigError("white_only needs an image; give an image, or leave white_only out")
            if spacing is None or not 0 < spacing < np.inf:
                raise ConfigError(f"there is no image and {spacing!r} is no spacing; give one of them [m]")
            covered = spread(model, body_id, spacing, most, met or Met())
        elif spacing is not None:
            raise ConfigError("an image says where feelers are: leave out either the image or the spacing")
        else:
            covered = _paint(model, body_id, image, white_only, most)
        return _assemble(model, body_id, covered, length, spacing)


class Request(NamedTuple):
    """The feelers that one body should get; the fields are arguments of `place`."""

    body_id: int
    where: str
    image: Path | None
    spacing: float | None
    length: float
    white_only: bool | None


def place_all(model: mujoco.MjModel, requests: Iterable[Request]) -> list[Placed]:
    """Place the feelers of several bodies.

    Args:
        model: The model.
        requests: The bodies and their settings.

    Returns:
        The feelers of each body, in the given order.

    Raises:
        ConfigError: As in `place`, or all bodies together have more than `MOST_FEELERS` feelers.
        SceneError: As in `place`.
    """
    placed: list[Placed] = []
    met, rest = Met(), MOST_FEELERS
    for request in requests:
        one = place(model, **request._asdict(), most=rest, met=met)
        rest -= len(one.positions)
        placed.append(one)
    return placed


def _paint(
    model: mujoco.MjModel, body: int, image: Path | np.ndarray, white_only: bool | None, most: int
) -> list[Covered]:
    """Return the painted feelers of each of a body's geoms."""
    geoms = _painted_geoms(model, body)
    names = Names(model)
    for_each = not isinstance(image, np.ndarray) and "{geom}" in str(image)
    if len(geoms) > 1 and not for_each:
        listed = ", ".join(repr(names.geoms[geom]) for geom in geoms)
        raise ConfigError(
            f"body {names.bodies[body]!r} has {len(geoms)} geoms to paint ({listed}); give an image for "
            'each, with {geom} in the path: "skin_{geom}.png"'
        )
    covered: list[Covered] = []
    for geom in geoms:
        # Found first: without a map, no image helps.
        found = painted_map(model, geom)
        name = names.geoms[geom].replace("/", "_")
        picture = image if isinstance(image, np.ndarray) else Path(str(image).replace("{geom}", name))
        levels = brightness(picture, white_only)
        wanted = levels > 0
        told = "the array" if isinstance(picture, np.ndarray) else str(picture)
        pixels, spots = _on_map(found, wanted, most - sum(len(part.pixels) for part in covered), told)
        if len(pixels) == 0 and wanted.any():
            raise ConfigError(
                f"none of the {wanted.sum()} white pixels of {told} lies on the map of geom "
                f"{names.geoms[geom]!r}; paint inside of it"
            )
        height, width = levels.shape
        spots = in_body(model, geom, spots)
        covered.append(Covered(geom, width, height, pixels, spots, levels.ravel()[pixels]))
    if not sum(len(part.pixels) for part in covered):
        raise ConfigError(
            f"the image of body {names.bodies[body]!r} has no white pixels; paint some, or set white_only to "
            "false if grey or coloured pixels are meant to be feelers"
        )
    return covered


def _on_map(found: UvMap, wanted: np.ndarray, most: int, told: str) -> tuple[np.ndarray, Spots]:
    """`UvMap.surface` bit by bit, so that too many feelers are refused before all of them are there."""
    white = np.flatnonzero(wanted)
    if len(white) <= most:
        return found.surface(wanted)
    pixels, spots, count = [], [], 0
    for begin in range(0, len(white), MOST_FEELERS):
        some = np.zeros(wanted.size, bool)
        some[white[begin : begin + MOST_FEELERS]] = True
        seen, places = found.surface(some.reshape(wanted.shape))
        count += len(seen)
        if count > most:
            raise ConfigError(
                f"{told} of {wanted.shape[1]} x {wanted.shape[0]} pixels paints too many feelers, more than "
                f"{left(most)}; make it smaller (half as wide and high has a quarter of them) or paint less "
                "of it"
            )
        pixels.append(seen)
        spots.append(places)
    return np.concatenate(pixels), Spots(*(np.concatenate(each) for each in zip(*spots, strict=True)))


def _painted_geoms(model: mujoco.MjModel, body: int) -> list[int]:
    """Those geoms of a body that images are for: meshes with UV coordinates, seen or colliding; else all."""
    geoms = [int(model.body_geomadr[body]) + k for k in range(model.body_geomnum[body])]
    meshes = [geom for geom in geoms if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH]
    mapped = [geom for geom in meshes if mesh_uv(model, int(model.geom_dataid[geom])) is not None]
    return mapped or bearing(model, body)


def _assemble(
    model: mujoco.MjModel, body: int, covered: list[Covered], length: float, spacing: float | None
) -> Placed:
    tops = np.cumsum([0, *(part.height for part in covered)])
    width, height = max(part.width for part in covered), int(tops[-1])
    if width * height > 2**32:
        raise ConfigError(
            f"the images of body {Names(model).bodies[body]!r} have {width} x {height} pixels together; "
            "make them smaller"
        )
    pixels = []
    for part, top in zip(covered, tops[:-1], strict=True):
        row, column = np.divmod(part.pixels, part.width)
        pixels.append((row + top) * width + column)
    positions = np.concatenate([part.spots.positions for part in covered])
    return Placed(
        body_id=body,
        positions=positions,
        normals=np.concatenate([part.spots.normals for part in covered]),
        lengths=length * np.concatenate([part.levels for part in covered]),
        geom_index=np.repeat(np.arange(len(covered)), [len(part.pixels) for part in covered]).astype(
            np.uint16
        ),
        uv=np.concatenate([part.spots.uv for part in covered]),
        pixels=np.concatenate(pixels).astype(np.uint32),
        parts=tuple(
            Part(part.geom, int(top), part.width, part.height)
            for part, top in zip(covered, tops[:-1], strict=True)
        ),
        width=width,
        height=height,
        spacing=_usual_distance(positions) if spacing is None else spacing,
    )


def _usual_distance(positions: np.ndarray) -> float:
    """The median distance to the nearest neighbour [m]; 0 where there is none."""
    if len(positions) < 2:
        return 0.0
    return float(np.median(cKDTree(positions).query(positions, 2)[0][:, 1]))


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Puts the setting in front of errors."""
    try:
        yield
    except (ConfigError, SceneError) as error:
        raise type(error)(f"{where}: {error}") from None
