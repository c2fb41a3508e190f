"""Place feelers on a body, either painted on its UV map or evenly spaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.common.errors import ConfigError, SceneError
from tactile_sim.common.names import Names
from tactile_sim.common.schema import as_number, is_index
from tactile_sim.feelers.evenly import (
    MOST_FEELERS,
    GeomFeelers,
    MapCache,
    feeler_geoms,
    format_remaining,
    spread,
)
from tactile_sim.feelers.feelers import Part, Placed
from tactile_sim.feelers.painted import brightness
from tactile_sim.geometry.maps import in_body, painted_map
from tactile_sim.geometry.uv_map import SurfacePoints, UvMap, mesh_uv

LENGTH = 0.1
"""Default length of evenly spaced feelers, and of feelers on white pixels [m]."""
LONGEST = 1e6
"""Largest allowed length of a feeler [m]."""


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
    cache: MapCache | None = None,
) -> Placed:
    """Place feelers on a body, either painted on an image or evenly spaced.

    Args:
        model: MuJoCo model.
        body_id: Id of the body that gets the feelers.
        image: Image that defines the positions and lengths of the feelers. White pixels are feelers of full
            length, gray pixels are shorter feelers, and black pixels have no feeler. The image covers the UV
            map of the body's mesh, or the unfolded surface of its primitive. ``{geom}`` in the path is
            replaced by the name of each geom (with ``_`` instead of ``/``), so that each geom has a separate
            image.
        spacing: Distance between neighboring feelers on the body's colliding geoms if there is no image [m].
        length: Length of evenly spaced feelers, or of feelers on white pixels [m], at most `LONGEST`.
        white_only: Whether only the white pixels of the image are feelers. By default, True for color
            images. See `tactile_sim.feelers.painted.brightness` for the definition of white.
        where: Prefix for error messages, such as the name of the setting.
        most: Largest allowed number of feelers; less than `MOST_FEELERS` if other bodies have feelers too.
        cache: Cache of UV maps and feelers by shape, to share between several calls.

    Returns:
        The feelers, in the body's frame.

    Raises:
        ConfigError: A setting or an image is invalid.
        SceneError: A geom cannot have feelers, or its UV map overlaps itself.
    """
    with _named(where):
        if not isinstance(model, mujoco.MjModel):
            raise ConfigError(f"model: must be a mujoco.MjModel, got {model!r}")
        if not is_index(body_id, model.nbody):
            raise ConfigError(f"body_id: must be 0 to {model.nbody - 1}, got {body_id!r}")
        if not 0 < as_number(length) <= LONGEST:
            raise ConfigError(f"length must be > 0 and <= {LONGEST:g} m, got {length!r}; give meters")
        if image is None:
            if white_only is not None:
                raise ConfigError("white_only needs an image; give an image, or leave white_only out")
            if spacing is None or not 0 < as_number(spacing) < np.inf:
                raise ConfigError(
                    f"without an image, spacing must be > 0 m, got {spacing!r}; give an image or a spacing"
                )
            parts = spread(model, body_id, spacing, most, cache or MapCache())
        elif spacing is not None:
            raise ConfigError("got both an image and a spacing; leave out one of them")
        else:
            parts = _paint(model, body_id, image, white_only, most)
        return _assemble(model, body_id, parts, length, spacing)


class Request(NamedTuple):
    """A request to place feelers on one body. The fields are arguments of `place`."""

    body_id: int
    where: str
    image: Path | None
    spacing: float | None
    length: float
    white_only: bool | None


def place_all(model: mujoco.MjModel, requests: Iterable[Request]) -> list[Placed]:
    """Place the feelers of several bodies, at most `MOST_FEELERS` in total; errors are those of `place`."""
    placed: list[Placed] = []
    cache, rest = MapCache(), MOST_FEELERS
    for request in requests:
        one = place(model, **request._asdict(), most=rest, cache=cache)
        rest -= len(one.positions)
        placed.append(one)
    return placed


def _paint(
    model: mujoco.MjModel, body: int, image: Path | np.ndarray, white_only: bool | None, most: int
) -> list[GeomFeelers]:
    """Return the painted feelers for each geom of a body."""
    geoms = _painted_geoms(model, body)
    names = Names(model)
    for_each = not isinstance(image, np.ndarray) and "{geom}" in str(image)
    if len(geoms) > 1 and not for_each:
        listed = ", ".join(repr(names.geoms[geom]) for geom in geoms)
        raise ConfigError(
            f"body {names.bodies[body]!r} has {len(geoms)} geoms with a map ({listed}), got one image; give "
            'an image for each geom, with {geom} in the path: "skin_{geom}.png"'
        )
    parts: list[GeomFeelers] = []
    for geom in geoms:
        # A missing map is reported first, because no image can remedy it.
        uv_map = painted_map(model, geom)
        name = names.geoms[geom].replace("/", "_")
        source = image if isinstance(image, np.ndarray) else Path(str(image).replace("{geom}", name))
        levels = brightness(source, white_only)
        wanted = levels > 0
        source_name = "the array" if isinstance(source, np.ndarray) else str(source)
        rest = most - sum(len(part.pixels) for part in parts)
        pixels, points = _on_map(uv_map, wanted, rest, source_name)
        if len(pixels) == 0 and wanted.any():
            raise ConfigError(
                f"none of the {wanted.sum()} white pixels of {source_name} is on the map of geom "
                f"{names.geoms[geom]!r}; paint pixels inside the map"
            )
        height, width = levels.shape
        points = in_body(model, geom, points)
        parts.append(GeomFeelers(geom, width, height, pixels, points, levels.ravel()[pixels]))
    if not sum(len(part.pixels) for part in parts):
        raise ConfigError(
            f"the image of body {names.bodies[body]!r} has no white pixels; paint some in a PNG file, or "
            "set white_only to false if gray or colored pixels are meant to be feelers"
        )
    return parts


def _on_map(
    uv_map: UvMap, wanted: np.ndarray, most: int, source_name: str
) -> tuple[np.ndarray, SurfacePoints]:
    """Find pixels and surface points by `UvMap.surface`, in batches so that too many are detected early."""
    white = np.flatnonzero(wanted)
    if len(white) <= most:
        return uv_map.surface(wanted)
    pixels, points, count = [], [], 0
    for begin in range(0, len(white), MOST_FEELERS):
        some = np.zeros(wanted.size, bool)
        some[white[begin : begin + MOST_FEELERS]] = True
        seen, found = uv_map.surface(some.reshape(wanted.shape))
        count += len(seen)
        if count > most:
            raise ConfigError(
                f"{source_name} has too many white pixels for feelers, got {wanted.shape[1]} x "
                f"{wanted.shape[0]} pixels with more than {format_remaining(most)}; make it smaller (half"
                " the width and height gives a quarter of the feelers) or paint fewer pixels white"
            )
        pixels.append(seen)
        points.append(found)
    return np.concatenate(pixels), SurfacePoints(
        *(np.concatenate(each) for each in zip(*points, strict=True))
    )


def _painted_geoms(model: mujoco.MjModel, body: int) -> list[int]:
    """Return a body's geoms on which an image is painted: meshes with UV coordinates, or `feeler_geoms`."""
    geoms = [int(model.body_geomadr[body]) + k for k in range(model.body_geomnum[body])]
    meshes = [geom for geom in geoms if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH]
    mapped = [geom for geom in meshes if mesh_uv(model, int(model.geom_dataid[geom])) is not None]
    return mapped or feeler_geoms(model, body)


def _assemble(
    model: mujoco.MjModel, body: int, parts: list[GeomFeelers], length: float, spacing: float | None
) -> Placed:
    """Combine the feelers of a body's geoms and stack their images."""
    tops = np.cumsum([0, *(part.height for part in parts)])
    width, height = max(part.width for part in parts), int(tops[-1])
    if width * height > 2**32:
        raise ConfigError(
            f"the images of body {Names(model).bodies[body]!r} are too large, got {width} x {height} pixels "
            "together; make them smaller"
        )
    pixels = []
    for part, top in zip(parts, tops[:-1], strict=True):
        row, column = np.divmod(part.pixels, part.width)
        pixels.append((row + top) * width + column)
    positions = np.concatenate([part.points.positions for part in parts])
    return Placed(
        body_id=body,
        positions=positions,
        normals=np.concatenate([part.points.normals for part in parts]),
        lengths=length * np.concatenate([part.levels for part in parts]),
        geom_index=np.repeat(np.arange(len(parts)), [len(part.pixels) for part in parts]).astype(np.uint16),
        uv=np.concatenate([part.points.uv for part in parts]),
        pixels=np.concatenate(pixels).astype(np.uint32),
        parts=tuple(
            Part(part.geom, int(top), part.width, part.height)
            for part, top in zip(parts, tops[:-1], strict=True)
        ),
        width=width,
        height=height,
        spacing=_median_distance(positions) if spacing is None else spacing,
    )


def _median_distance(positions: np.ndarray) -> float:
    """Return the median distance to the nearest neighbor [m]; 0 for a single position."""
    if len(positions) < 2:
        return 0.0
    return float(np.median(cKDTree(positions).query(positions, 2)[0][:, 1]))


@contextmanager
def _named(where: str) -> Iterator[None]:
    """Prefix the messages of errors raised in this context with ``where``."""
    try:
        yield
    except (ConfigError, SceneError) as error:
        raise type(error)(f"{where}: {error}") from None
