"""Feelers of a body: painted on its map, or spread evenly over it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.errors import ConfigError, SceneError
from tactile_sim.feelers.maps import own_map, painted_map
from tactile_sim.feelers.painted import MOST_PIXELS, brightness
from tactile_sim.feelers.placed import Part, Placed
from tactile_sim.feelers.uv_map import Spots, UvMap, mesh_uv, pixels_of
from tactile_sim.names import Names
from tactile_sim.skin.placement.merge import colliding_geoms
from tactile_sim.skin.placement.shapes import Shape

LENGTH = 0.1
"""Of a white feeler [m], where none is given."""
MOST_FEELERS = 1_000_000
"""That are spread over a body."""
AHEAD = 1e-3
"""How far out of the surface a feeler must be free of other geoms of its body, in spacings."""
FINER = 0.95
"""Step by which pixels are made smaller until each has one feeler."""


class _Covered(NamedTuple):
    """The feelers of one geom."""

    geom: int
    width: int
    height: int
    pixels: np.ndarray
    """(n,) row · width + column in the geom's own image, ascending."""
    spots: Spots
    """In the body's frame."""
    levels: np.ndarray
    """(n,) share of the full length."""


def place(
    model: mujoco.MjModel,
    body_id: int,
    *,
    image: Path | np.ndarray | None = None,
    spacing: float | None = None,
    length: float = LENGTH,
    where: str = "feelers",
) -> Placed:
    """The feelers of a body.

    Args:
        image: where they are and how long: white ones have the full length, grey ones are shorter, and
            where it is black there are none. It lies on the UV map of the body's mesh, or on the net of its
            primitive. ``{geom}`` in the path stands for a geom's name, with ``_`` for each ``/``: an image
            for each.
        spacing: without an image, the distance between neighbours [m]: evenly over the geoms that collide.
        length: of a white feeler [m].
        where: names the setting, for errors.

    Raises:
        ConfigError, SceneError: what cannot be done, in a line that begins with ``where``.
    """
    with _named(where):
        if not 0 < length < np.inf:
            raise ConfigError(f"{length!r} is no length; give metres")
        if image is None:
            if spacing is None or not 0 < spacing < np.inf:
                raise ConfigError(f"there is no image and {spacing!r} is no spacing; give one of them [m]")
            covered = _spread(model, body_id, spacing)
        elif spacing is not None:
            raise ConfigError("an image says where feelers are: leave out either the image or the spacing")
        else:
            covered = _paint(model, body_id, image)
        return _assemble(model, body_id, covered, length, spacing)


def _paint(model: mujoco.MjModel, body: int, image: Path | np.ndarray) -> list[_Covered]:
    """The feelers painted on each of a body's geoms."""
    geoms = _painted_geoms(model, body)
    names = Names(model)
    for_each = not isinstance(image, np.ndarray) and "{geom}" in str(image)
    if len(geoms) > 1 and not for_each:
        listed = ", ".join(repr(names.geoms[geom]) for geom in geoms)
        raise ConfigError(
            f"body {names.bodies[body]!r} has {len(geoms)} geoms to paint ({listed}); give an image for "
            "each, with {geom} in the path"
        )
    covered = []
    for geom in geoms:
        # Found first: without a map, no image helps.
        found = painted_map(model, geom)
        name = names.geoms[geom].replace("/", "_")
        picture = image if isinstance(image, np.ndarray) else Path(str(image).replace("{geom}", name))
        levels = brightness(picture)
        wanted = levels > 0
        pixels, spots = found.surface(wanted)
        told = "the array" if isinstance(picture, np.ndarray) else str(picture)
        if len(pixels) == 0 and wanted.any():
            raise ConfigError(
                f"none of the {wanted.sum()} white pixels of {told} lies on the map of geom "
                f"{names.geoms[geom]!r}; paint inside of it"
            )
        height, width = levels.shape
        spots = in_body(model, geom, spots)
        covered.append(_Covered(geom, width, height, pixels, spots, levels.ravel()[pixels]))
    if not sum(len(part.pixels) for part in covered):
        raise ConfigError(f"the image for body {names.bodies[body]!r} is black all over: paint white pixels")
    return covered


def _painted_geoms(model: mujoco.MjModel, body: int) -> list[int]:
    """Those geoms of a body that images are for: meshes with UV coordinates, seen or colliding; else all."""
    geoms = [int(model.body_geomadr[body]) + k for k in range(model.body_geomnum[body])]
    meshes = [geom for geom in geoms if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH]
    mapped = [geom for geom in meshes if mesh_uv(model, int(model.geom_dataid[geom])) is not None]
    return mapped or _bearing(model, body)


def _bearing(model: mujoco.MjModel, body: int) -> list[int]:
    """The geoms of a body that collide, or, where none does, all."""
    geoms = colliding_geoms(model, body).tolist()
    geoms = geoms or [int(model.body_geomadr[body]) + k for k in range(model.body_geomnum[body])]
    if not geoms:
        raise SceneError(f"body {Names(model).bodies[body]!r} has no geom to bear feelers; give it one")
    return geoms


def _spread(model: mujoco.MjModel, body: int, spacing: float) -> list[_Covered]:
    """Feelers evenly over a body's geoms, but not inside of another one."""
    geoms = _bearing(model, body)
    maps = [own_map(model, geom) for geom in geoms]
    number = sum(found.area for found in maps) / max(spacing, 1e-100) ** 2
    if number > MOST_FEELERS:
        enough = float(f"{1.06 * spacing * np.sqrt(number / MOST_FEELERS):.2g}")
        raise ConfigError(
            f"a spacing of {spacing:g} m makes too many feelers, about {number:.1e}, at most "
            f"{MOST_FEELERS:,}; make it {enough:g} m or more"
        )
    covered = [_fit(model, geom, found, spacing) for geom, found in zip(geoms, maps, strict=True)]
    solids = {int(geom): Shape.of_geom(model, geom) for geom in colliding_geoms(model, body)}
    return [_seen(part, solids, spacing) for part in covered]


def _fit(model: mujoco.MjModel, geom: int, found: UvMap, spacing: float) -> _Covered:
    """Feelers evenly over one geom, and the image that they fit in."""
    spots = found.spread(spacing)
    grid = _grid(found, spots, spacing)
    if grid is None:
        # Its UV coordinates are too crowded somewhere.
        found = own_map(model, geom, laid_out=True)
        spots = found.spread(spacing)
        grid = _grid(found, spots, spacing)
    if grid is None:
        raise SceneError(
            f"the map of geom {Names(model).geoms[geom]!r} is too large for feelers {spacing:g} m apart; "
            "give a larger spacing"
        )
    pixels = pixels_of(spots.uv, *grid)
    order = np.argsort(pixels)
    spots = in_body(model, geom, Spots(*(values[order] for values in spots)))
    return _Covered(geom, *grid, pixels[order], spots, np.ones(len(order)))


def _grid(found: UvMap, spots: Spots, spacing: float) -> tuple[int, int] | None:
    """Width and height of the coarsest image in which each place has a pixel of its own."""
    pixel = spacing
    most = min(MOST_PIXELS, 64 * len(spots.uv) + 4096)
    while True:
        # As many as fit, where the map is a whole number of pixels but for rounding.
        width, height = np.maximum(np.ceil(found.size / pixel - 1e-6), 1)
        if width * height > most:
            return None
        if len(np.unique(pixels_of(spots.uv, int(width), int(height)))) == len(spots.uv):
            return int(width), int(height)
        pixel *= FINER


def in_body(model: mujoco.MjModel, geom: int, spots: Spots) -> Spots:
    """Places in a geom's frame, in its body's."""
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    turned = rotation.reshape(3, 3).T
    return Spots(spots.uv, spots.positions @ turned + model.geom_pos[geom], spots.normals @ turned)


def _seen(part: _Covered, solids: Mapping[int, Shape], spacing: float) -> _Covered:
    """Those feelers of a geom that neither begin in another solid of the body nor point into one there."""
    kept = np.ones(len(part.pixels), bool)
    ahead = part.spots.positions + AHEAD * spacing * part.spots.normals
    for geom, solid in solids.items():
        if geom != part.geom:
            for points in (part.spots.positions, ahead):
                kept &= solid.depth(points) <= AHEAD / 2 * spacing
    spots = Spots(*(values[kept] for values in part.spots))
    return part._replace(pixels=part.pixels[kept], spots=spots, levels=part.levels[kept])


def _assemble(
    model: mujoco.MjModel, body: int, covered: list[_Covered], length: float, spacing: float | None
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
