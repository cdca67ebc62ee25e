"""Construction of a medium at the points of a grid: uniform values, a file, then shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundswell.errors import InputError, listed
from groundswell.solvers.ultrasound.absorption import nepers
from groundswell.solvers.ultrasound.media.case import (
    PROPERTIES,
    FileSection,
    HounsfieldFile,
    LabelsFile,
    MediumSection,
    PropertiesFile,
)
from groundswell.solvers.ultrasound.media.files import ABSORPTION, GridFile
from groundswell.solvers.ultrasound.media.points import GridPoints, grid_points
from groundswell.solvers.ultrasound.media.shapes import Mask, Shape, window_of
from groundswell.solvers.ultrasound.media.skull import bone_properties
from groundswell.solvers.ultrasound.medium import AcousticMedium, Values

_UNITS = {"speed": "m/s", "density": "kg/m^3", "absorption": ABSORPTION, "nonlinearity": ""}
_POSITIVE = ("speed", "density")
_SHAPE_REMEDY = "move or enlarge it, or refine the grid"
_FILE_REMEDY = "correct its numbers, the threshold or labels, or offset and axes in medium.file"


@dataclass(frozen=True)
class Change:
    """New values of properties at some points of a plane.

    Args:
        plane: index along z.
        rows, columns: the part of the plane that `mask` covers.
        mask: the points of this part that change.
        values: a number, or a value for each of these points, by property.
    """

    plane: int
    rows: slice
    columns: slice
    mask: Mask
    values: Mapping[str, Any]


def build_medium(
    section: MediumSection,
    positions: Sequence[ArrayLike],
    region: tuple[ArrayLike, ArrayLike],
    dtype: str = "float32",
) -> AcousticMedium:
    """Build the medium of a section at the points of a grid.

    Args:
        section: the section.
        positions: ascending coordinates x, y and z of all points, including absorbing layers, m.
        region: lowest and highest corner of the region, (x, y, z), m.
        dtype: floating-point type of arrays.

    Returns:
        The medium. Uniform properties are floats, others arrays (nz, ny, nx).

    Raises:
        InputError: the file is damaged or does not cover the region, the shape of an array is not
            that of the region, a shape or file changes no point, or a value is invalid.
    """
    points = grid_points(positions, *region)
    given = {name: getattr(section, name) for name in PROPERTIES}
    values = {name: _spread(name, value, points, dtype) for name, value in given.items()}
    properties = _Properties(values, points.shape, dtype)
    if section.file is not None:
        changes = _file_changes(section.file, points, values)
        properties.apply(changes, f"{section.file.file} changes no grid point; {_FILE_REMEDY}")
    for n, part in enumerate(section.shape):
        changes = _shape_changes(part.geometry, part.properties, points)
        where = f"medium.shape[{n}] ({part.kind})"
        properties.apply(changes, f"{where} contains no grid point; {_SHAPE_REMEDY}")
    return _medium(section, properties.simplified())


def _medium(section: MediumSection, values: Mapping[str, Values]) -> AcousticMedium:
    per_metre = float(nepers(1.0, section.power))
    return AcousticMedium(
        speed=values["speed"],
        density=values["density"],
        absorption=values["absorption"] * per_metre,
        power=section.power,
        nonlinearity=values["nonlinearity"],
        absorbs="absorption" in section.effects,
        disperses="dispersion" in section.effects,
    )


# --- arrays ---------------------------------------------------------------------------------------


class _Properties:
    """Properties under construction; those that vary in space become arrays.

    Args:
        values: number or array of each property; None if a file must provide it.
        shape: shape (nz, ny, nx) of arrays.
        dtype: floating-point type of arrays.
    """

    def __init__(
        self, values: Mapping[str, Values | None], shape: tuple[int, ...], dtype: str
    ) -> None:
        self._values, self._shape, self._dtype = dict(values), shape, dtype

    def apply(self, changes: Iterator[Change], otherwise: str) -> None:
        """Apply changes.

        Raises:
            InputError: they change no point; the message is `otherwise`.
        """
        unchanged = True
        for change in changes:
            if not change.mask.any():
                continue
            unchanged = False
            for name, value in change.values.items():
                if self._differs(name, value):
                    part = self._array(name)[change.plane, change.rows, change.columns]
                    part[change.mask] = value
        if unchanged:
            raise InputError(otherwise)

    def _differs(self, name: str, value: Any) -> bool:
        """Whether a value may differ from the current ones."""
        current = self._values[name]
        return isinstance(current, np.ndarray) or np.ndim(value) > 0 or current != value

    def simplified(self) -> dict[str, Values]:
        """The properties; arrays whose values are all equal become numbers."""
        return {name: _simplify(value) for name, value in self._values.items()}

    def _array(self, name: str) -> NDArray[np.floating]:
        value = self._values[name]
        if not isinstance(value, np.ndarray):
            start = np.nan if value is None else value
            value = self._values[name] = np.full(self._shape, start, self._dtype)
        return value


def _simplify(value: Values | None) -> Values:
    assert value is not None
    uniform = np.ndim(value) == 0 or np.min(value) == np.max(value)
    return float(np.ravel(value)[0]) if uniform else value


def _spread(name: str, value: Values | None, points: GridPoints, dtype: str) -> Values | None:
    """A number, or an array of the region continued into the absorbing layers."""
    if value is None or not isinstance(value, np.ndarray):
        return value
    nz, ny, nx = shape = points.region_shape
    if value.shape != shape and (nz, *value.shape) != (1, ny, nx):
        raise InputError(
            f"medium.{name} has the shape {value.shape}; it must have one value per point of the "
            f"region, {shape} (nz, ny, nx)"
        )
    check_values(name, value, f"medium.{name}")
    inside = value.reshape(shape).astype(dtype, copy=False)
    limits = zip(points.region[::-1], points.shape, strict=True)
    return np.pad(inside, [(part.start, n - part.stop) for part, n in limits], mode="edge")


def check_values(name: str, values: NDArray[Any], where: str) -> None:
    """Check that the values of a property are possible.

    Raises:
        InputError: a value is negative or not finite, or a speed or density is zero. The message
            starts with `where`.
    """
    least, most, positive = values.min(), values.max(), name in _POSITIVE
    if (least > 0 if positive else least >= 0) and np.isfinite(most):  # false for NaN
        return
    allowed = "greater than 0" if positive else "at least 0"
    raise InputError(
        f"{where} has values from {least:g} to {most:g}; they must be finite and {allowed}"
    )


# --- changes --------------------------------------------------------------------------------------


def _shape_changes(
    shape: Shape, values: Mapping[str, float], points: GridPoints
) -> Iterator[Change]:
    """Changes of the points in a shape."""
    x, y, z = points.axes
    planes, rows, columns = window_of(shape, points.axes)
    size = (rows.stop - rows.start, columns.stop - columns.start)
    for k in range(planes.start, planes.stop):
        mask = shape.contains(x[None, columns], y[rows, None], z[k])
        yield Change(k, rows, columns, np.broadcast_to(mask, size), values)


def _file_changes(
    section: FileSection, points: GridPoints, values: Mapping[str, Values | None]
) -> Iterator[Change]:
    """Changes from a file; `values` are the properties so far."""
    if isinstance(section, PropertiesFile):
        yield from _properties_changes(section, points, values)
    elif isinstance(section, HounsfieldFile):
        file = GridFile(section, points, [section.variable])
        for k, hounsfield in enumerate(file.planes(section.variable)):
            bone = hounsfield >= section.skull.threshold
            properties = bone_properties(hounsfield[bone], section.skull)
            yield Change(k, slice(None), slice(None), bone, properties)
    elif isinstance(section, LabelsFile):
        yield from _label_changes(section, points)


def _properties_changes(
    section: PropertiesFile, points: GridPoints, values: Mapping[str, Values | None]
) -> Iterator[Change]:
    given = section.variables.model_dump(exclude_none=True)
    names = {name: given.get(name, name) for name in PROPERTIES}
    file = GridFile(section, points, names.values())
    used = [name for name in PROPERTIES if name in given or names[name] in file.variables]
    missing = [name for name in PROPERTIES if values[name] is None and name not in used]
    if missing or not used:
        raise InputError(
            f"{file.path} has no variable {listed(missing or PROPERTIES)}; name it in "
            "medium.file.variables, or give a value in [medium]"
        )
    for name in used:
        where = f"{file.path}, variable {names[name]}"
        for k, plane in enumerate(file.planes(names[name], _UNITS[name])):
            check_values(name, plane, where)
            everywhere = np.ones(plane.shape, bool)
            yield Change(k, slice(None), slice(None), everywhere, {name: plane.ravel()})


def _label_changes(section: LabelsFile, points: GridPoints) -> Iterator[Change]:
    file = GridFile(section, points, [section.variable])
    materials = {float(material.label): material.properties for material in section.material}
    unknown = set(np.unique(file.window(section.variable)).tolist()) - {0.0, *materials}
    if unknown:
        labels = ", ".join(f"{label:g}" for label in sorted(unknown)[:5])
        raise InputError(
            f"{file.path} has labels without a material, {labels}; add [[medium.file.material]] "
            "for each"
        )
    for k, plane in enumerate(file.planes(section.variable, nearest=True)):
        for label, properties in materials.items():
            yield Change(k, slice(None), slice(None), plane == label, properties)
