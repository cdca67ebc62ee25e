"""Media at the points of a grid: uniform values, a file, then shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, Integers
from groundswell.errors import InputError
from groundswell.solvers.ultrasound.absorption import nepers
from groundswell.solvers.ultrasound.media.case import PROPERTIES, MediumSection
from groundswell.solvers.ultrasound.media.parts import check_values, parts_of
from groundswell.solvers.ultrasound.media.plane import Plane
from groundswell.solvers.ultrasound.media.points import GridPoints, grid_points
from groundswell.solvers.ultrasound.media.representatives import Representatives
from groundswell.solvers.ultrasound.medium import AcousticMedium, Values
from groundswell.solvers.ultrasound.window import Window


class MediumDescription:
    """A section `[medium]` on a grid, which is evaluated plane by plane.

    Args:
        section: the section.
        positions: ascending coordinates x, y and z of all points, including absorbing layers, m.
        region: lowest and highest corner of the region, (x, y, z), m.
        dtype: floating-point type of arrays.

    Raises:
        InputError: the file is damaged or does not cover the region, or the shape of an array is
            not that of the region.
    """

    def __init__(
        self,
        section: MediumSection,
        positions: Sequence[ArrayLike],
        region: tuple[ArrayLike, ArrayLike],
        dtype: str = "float32",
    ) -> None:
        self._section, self._dtype = section, dtype
        self._points = grid_points(positions, *region)
        given = {name: getattr(section, name) for name in PROPERTIES}
        self._given = {name: _checked(name, v, self._points) for name, v in given.items()}
        self._parts = parts_of(section, self._points)

    # --- results ----------------------------------------------------------------------------------

    def medium(self) -> AcousticMedium:
        """The medium at all points: uniform properties are floats, others arrays (nz, ny, nx).

        Raises:
            InputError: a shape or file changes no point, or a value is invalid.
        """
        nz, ny, nx = self._points.shape
        return self._at_points(Window.whole_of((nx, ny, nz)))

    def medium_in(self, window: Window) -> AcousticMedium:
        """The medium at the points of a window, with the equations of the whole medium.

        Properties that are uniform in the whole medium are floats.

        Raises:
            InputError: see `medium`.
        """
        whole = self.representatives
        return replace(
            self._at_points(window),
            nonlinear=whole.is_nonlinear,
            lossy=bool(np.any(whole.absorption)),
        )

    def _at_points(self, window: Window) -> AcousticMedium:
        varying = [name for name, value in self._extremes.items() if np.ndim(value) > 0]
        found = {name: np.empty(window.extended[::-1], self._dtype) for name in varying}
        part = np.ix_(window.indices(1), window.indices(0))
        for n, k in enumerate(window.indices(2) if varying else ()):
            plane = self._plane(int(k))
            for name, values in found.items():
                values[n] = np.broadcast_to(plane.property(name), self._points.shape[1:])[part]
        self._release()
        return self._medium({**self._extremes, **found})

    @cached_property
    def representatives(self) -> AcousticMedium:
        """Some points of the medium, among them all extremes; see `Representatives`.

        Properties that vary in space are arrays (points,), others floats.

        Raises:
            InputError: see `medium`.
        """
        return self._medium(self._extremes)

    @cached_property
    def _extremes(self) -> dict[str, Values]:
        """Properties of these points, with the absorption in the unit of the section."""
        found = Representatives(self._section.power, self._dtype)
        for plane in self._planes():
            found.add(plane)
        return {name: _simplify(value) for name, value in found.properties().items()}

    def speeds(self, points: Integers) -> Floats:
        """Sound speeds at points, given by flat indices in an array (nz, ny, nx), m/s."""
        speed = self.representatives.speed
        if np.ndim(speed) == 0:
            return np.full(len(points), float(speed))
        at, within = np.divmod(points, np.prod(self._points.shape[1:]))
        found = np.zeros(len(points))
        for k in np.unique(at):
            values = np.broadcast_to(self._plane(int(k)).property("speed"), self._points.shape[1:])
            found[at == k] = values.ravel()[within[at == k]].astype(self._dtype)
        return found

    def absorption(self) -> Iterator[Values]:
        """The coefficient of absorption in each plane of the region, a number or (ny, nx)."""
        x, y, z = self._points.region
        for k in range(z.start, z.stop):
            values = self._plane(k).property("absorption")
            inside = values if np.ndim(values) == 0 else np.asarray(values)[y, x]
            yield inside * self._per_metre
        self._release()

    @property
    def _per_metre(self) -> float:
        """The unit of the section's absorption as a coefficient, Np (rad/s)^-y / m."""
        return float(nepers(1.0, self._section.power))

    def _medium(self, values: Mapping[str, Values]) -> AcousticMedium:
        section = self._section
        return AcousticMedium(
            speed=values["speed"],
            density=values["density"],
            absorption=values["absorption"] * self._per_metre,
            power=section.power,
            nonlinearity=values["nonlinearity"],
            absorbs="absorption" in section.effects,
            disperses="dispersion" in section.effects,
        )

    # --- planes -----------------------------------------------------------------------------------

    def _planes(self) -> Iterator[Plane]:
        """All planes.

        Raises:
            InputError: after the last one, if a part has changed no point.
        """
        used: set[int] = set()
        for k in range(self._points.shape[0]):
            yield self._plane(k, used)
        for n, part in enumerate(self._parts):
            if n not in used:
                raise InputError(part.unused)

    def _plane(self, k: int, used: set[int] | None = None) -> Plane:
        """A plane; the numbers of parts that change it are added to `used`."""
        values = {name: self._given_plane(name, k) for name in PROPERTIES}
        plane = Plane(values, self._points.shape[1:], self._dtype)
        for n, part in enumerate(self._parts):
            for change in part.changes(k):
                if plane.apply(change) and used is not None:
                    used.add(n)
        return plane

    def _release(self) -> None:
        """Release what parts keep between planes."""
        for part in self._parts:
            part.release()

    def _given_plane(self, name: str, k: int) -> Values:
        """The value of the section; an array of the region continues into absorbing layers."""
        value = self._given[name]
        if np.ndim(value) == 0:
            return value
        x, y, z = self._points.region
        inside = np.asarray(value)[min(max(k, z.start), z.stop - 1) - z.start]
        limits = zip((y, x), self._points.shape[1:], strict=True)
        margins = [(part.start, n - part.stop) for part, n in limits]
        return np.pad(inside, margins, mode="edge").astype(self._dtype, copy=False)


def build_medium(
    section: MediumSection,
    positions: Sequence[ArrayLike],
    region: tuple[ArrayLike, ArrayLike],
    dtype: str = "float32",
) -> AcousticMedium:
    """Build the medium of a section at the points of a grid; see `MediumDescription`."""
    return MediumDescription(section, positions, region, dtype).medium()


def _simplify(value: Values) -> Values:
    """A number if all values are equal."""
    uniform = np.ndim(value) == 0 or np.min(value) == np.max(value)
    return float(np.ravel(value)[0]) if uniform else value


def _checked(name: str, value: Values | None, points: GridPoints) -> Values:
    """A number, NaN if there is none, or an array of the region (nz, ny, nx)."""
    if value is None:
        return np.nan
    if not isinstance(value, np.ndarray):
        return value
    nz, ny, nx = shape = points.region_shape
    if value.shape != shape and (nz, *value.shape) != (1, ny, nx):
        raise InputError(
            f"medium.{name} has the shape {value.shape}; it must have one value per point of the "
            f"region, {shape} (nz, ny, nx)"
        )
    check_values(name, value, f"medium.{name}")
    return value.reshape(shape)
