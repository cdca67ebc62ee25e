"""Media at the points of a grid: uniform values, a file, then shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from groundswell.arrays import Floats, Integers, Reals
from groundswell.backends.host_threads import for_each, in_threads
from groundswell.errors import InputError
from groundswell.solvers.ultrasound.absorption import nepers
from groundswell.solvers.ultrasound.media.case import PROPERTIES, MediumSection
from groundswell.solvers.ultrasound.media.parts import check_values, parts_of
from groundswell.solvers.ultrasound.media.plane import Plane
from groundswell.solvers.ultrasound.media.points import GridPoints, grid_points
from groundswell.solvers.ultrasound.media.rectangle import Rectangle
from groundswell.solvers.ultrasound.media.representatives import Representatives
from groundswell.solvers.ultrasound.medium import AcousticMedium, Values, select
from groundswell.solvers.ultrasound.window import Window

KEPT = 2**30  # bytes of planes that a description keeps, so that it evaluates them only once


class MediumDescription:
    """A section `[medium]` on a grid, which is evaluated plane by plane.

    Args:
        section: the section.
        positions: ascending coordinates x, y and z of all points, including absorbing layers, m.
        region: lowest and highest corner of the region, (x, y, z), m.
        dtype: floating-point type of arrays.
        keep: bytes of planes to keep; others are evaluated again when needed.

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
        keep: int = KEPT,
    ) -> None:
        self._section, self._dtype = section, dtype
        self._kept, self._room = dict[int, Plane](), keep
        self._uniform: list[Mapping[str, Values]] = []  # properties that do not vary in each plane
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
        return self.medium_in(Window.whole_of((nx, ny, nz)))

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

    def lossless_in(self, window: Window) -> AcousticMedium:
        """The medium in a window, without absorption and nonlinearity; see `medium_in`.

        Properties that are uniform in the window are arrays without axes.
        """
        names = [name for name in ("speed", "density") if np.ndim(self._extremes[name]) > 0]
        uniform: dict[str, Any] = {
            name: value for name in names if (value := self._uniform_in(window, name)) is not None
        }
        varying = self._at_points(window, [name for name in names if name not in uniform])
        return replace(varying, **uniform, absorption=0.0, nonlinearity=0.0)

    def _uniform_in(self, window: Window, name: str) -> Reals | None:
        """The value of a property in a window if it does not vary there, else None."""
        found = {self._uniform[k].get(name) for k in window.indices(2).tolist()}
        value = found.pop() if len(found) == 1 else None
        return None if value is None else np.asarray(value, self._dtype)

    def _at_points(self, window: Window, names: Sequence[str] = PROPERTIES) -> AcousticMedium:
        varying = [name for name in names if np.ndim(self._extremes[name]) > 0]
        shape = window.extended[::-1]
        found: dict[str, Any] = {name: np.empty(shape, self._dtype) for name in varying}
        planes = enumerate(window.indices(2).tolist() if varying else ())
        for_each(lambda pair: self._fill(found, pair[0], pair[1], window), planes)
        self.release()
        return replace(self.representatives, **found)

    def _fill(self, found: Mapping[str, Reals], n: int, k: int, window: Window) -> None:
        """Set plane `n` of arrays of a window to the values of plane `k`."""
        plane, runs = self._plane(k), [window.runs(1), window.runs(0)]
        for name, values in found.items():
            if all(len(along) == 1 for along in runs):
                plane.copy(name, Rectangle(*(along[0] for along in runs)), values[n])
            else:
                everywhere = np.broadcast_to(plane.property(name), self._points.shape[1:])
                values[n] = select(everywhere, runs)
            if name == "absorption":
                values[n] *= self._per_metre

    @cached_property
    def representatives(self) -> AcousticMedium:
        """Some points of the medium, among them all extremes; see `Representatives`.

        Properties that vary in space are arrays (points,), others floats.

        Raises:
            InputError: see `medium`.
        """
        values, section = self._extremes, self._section
        return AcousticMedium(
            speed=values["speed"],
            density=values["density"],
            absorption=values["absorption"] * self._per_metre,
            power=section.power,
            nonlinearity=values["nonlinearity"],
            absorbs="absorption" in section.effects,
            disperses="dispersion" in section.effects,
        )

    @property
    def notes(self) -> list[str]:
        """Notes for users about the file."""
        return [note for part in self._parts for note in part.notes]

    @property
    def material_count(self) -> int | None:
        """Number of different materials; None if there are more than a table of classes has."""
        return self._scan.materials.value

    @cached_property
    def _extremes(self) -> dict[str, Values]:
        """Properties of these points, with the absorption in the unit of the section."""
        return {name: _simplify(value) for name, value in self._scan.properties().items()}

    @cached_property
    def _scan(self) -> Representatives:
        """The points, and the number of materials, found plane by plane."""
        found, used = Representatives(self._section.power, self._dtype), set[int]()

        def scan(k: int) -> tuple[Representatives, Plane]:
            plane = self._evaluated(k, used)
            of_plane = Representatives(self._section.power, self._dtype)
            countable = found.materials.value is not None  # among the planes merged so far
            of_plane.add(plane, count=countable)
            return of_plane, plane

        for k, (of_plane, plane) in enumerate(in_threads(scan, range(self._points.shape[0]))):
            found.merge([of_plane])
            self._uniform.append({n: plane.values[n] for n in PROPERTIES if n not in plane.varying})
            self._keep(k, plane)
        for n, part in enumerate(self._parts):
            if n not in used:
                raise InputError(part.unused)
        return found

    def _keep(self, k: int, plane: Plane) -> None:
        """Keep a plane, unless it is too large."""
        if plane.nbytes <= self._room:
            self._kept[k] = plane
            self._room -= plane.nbytes

    def speeds(self, points: Integers) -> Floats:
        """Sound speeds at points, given by flat indices in an array (nz, ny, nx), m/s."""
        speed = self.representatives.speed
        if np.ndim(speed) == 0:
            return np.full(len(points), float(speed))
        found, at = np.zeros(len(points)), points // np.prod(self._points.shape[1:])
        order = np.argsort(at, kind="stable")
        planes = np.split(order, np.flatnonzero(np.diff(at[order])) + 1)
        for_each(lambda chosen: self._find_speeds(found, points, chosen), planes if len(at) else ())
        return found

    def _find_speeds(self, found: Floats, points: Integers, chosen: Integers) -> None:
        """Set the speeds at the chosen points, which lie in one plane."""
        shape = self._points.shape[1:]
        k, within = divmod(points[chosen], np.prod(shape))
        values = np.broadcast_to(self._plane(int(k[0])).property("speed"), shape)
        found[chosen] = values[np.unravel_index(within, shape)].astype(self._dtype)

    def absorption_in(self, k: int) -> Values:
        """The coefficient of absorption in plane `k` of the region, a number or (ny, nx)."""
        x, y, z = self._points.region
        values = self._plane(z.start + k).property("absorption")
        inside = values if np.ndim(values) == 0 else np.asarray(values)[y, x]
        return inside * self._per_metre

    @property
    def _per_metre(self) -> float:
        """The unit of the section's absorption as a coefficient, Np (rad/s)^-y / m."""
        return float(nepers(1.0, self._section.power))

    # --- planes -----------------------------------------------------------------------------------

    def _plane(self, k: int) -> Plane:
        """A plane: a kept one, or it is evaluated again."""
        return self._kept.get(k) or self._evaluated(k, set())

    def _evaluated(self, k: int, used: set[int]) -> Plane:
        """A plane; the numbers of parts that change it are added to `used`."""
        values = {name: self._given_plane(name, k) for name in PROPERTIES}
        plane = Plane(values, self._points.shape[1:], self._dtype)
        for n, part in enumerate(self._parts):
            for change in part.changes(k):
                if plane.apply(change):
                    used.add(n)
        return plane

    def release(self) -> None:
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
