"""Parts of a medium: the values that a file and shapes set in each plane of a grid."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from groundswell.arrays import HostArray, Mask
from groundswell.errors import InputError, listed
from groundswell.solvers.ultrasound.media.case import (
    PROPERTIES,
    FileSection,
    HounsfieldFile,
    LabelsFile,
    MediumSection,
    PropertiesFile,
    ShapeSection,
)
from groundswell.solvers.ultrasound.media.files import ABSORPTION, GridFile
from groundswell.solvers.ultrasound.media.formats import open_grid_file, open_nifti
from groundswell.solvers.ultrasound.media.oblique import ObliqueImage
from groundswell.solvers.ultrasound.media.points import GridPoints
from groundswell.solvers.ultrasound.media.shapes import window_of
from groundswell.solvers.ultrasound.media.skull import bone_properties

_UNITS = {"speed": "m/s", "density": "kg/m^3", "absorption": ABSORPTION, "nonlinearity": ""}
_POSITIVE = ("speed", "density")
_EVERYWHERE = slice(None)


@dataclass(frozen=True)
class Change:
    """New values of properties at some points of a plane.

    Args:
        rows, columns: the part of the plane that `mask` covers.
        mask: the points of this part that change.
        values: a number, or a value for each of these points, by property.
    """

    rows: slice
    columns: slice
    mask: Mask
    values: Mapping[str, Any]


class Part(Protocol):
    """A file or a shape."""

    @property
    def unused(self) -> str:
        """Message of the error if it changes no point."""

    @property
    def notes(self) -> list[str]:
        """Notes for users about it."""

    def changes(self, plane: int) -> Iterator[Change]:
        """Changes of the points in a plane, in order; `plane` is the index along z."""

    def release(self) -> None:
        """Forget what was read from a file; it is read again when needed."""


def parts_of(section: MediumSection, points: GridPoints) -> list[Part]:
    """The parts of a medium, in the order in which they apply.

    Raises:
        InputError: a file is damaged, incomplete, or does not cover the region.
    """
    files = [_file_part(section.file, section, points)] if section.file is not None else []
    return [*files, *(_ShapePart(n, shape, points) for n, shape in enumerate(section.shape))]


class _ShapePart:
    """A shape with uniform properties."""

    def __init__(self, number: int, section: ShapeSection, points: GridPoints) -> None:
        self._shape, self._values = section.geometry, section.properties
        self._planes, self._rows, self._columns = window_of(self._shape, points.axes)
        x, y, self._z = points.axes
        self._x, self._y = x[None, self._columns], y[self._rows, None]
        self.unused = (
            f"medium.shape[{number}] ({section.kind}) contains no grid point; move or enlarge it, "
            "or refine the grid"
        )

    def changes(self, plane: int) -> Iterator[Change]:
        if self._planes.start <= plane < self._planes.stop:
            inside = self._shape.contains(self._x, self._y, self._z[plane])
            mask = np.broadcast_to(inside, (self._y.size, self._x.size))
            yield Change(self._rows, self._columns, mask, self._values)

    @property
    def notes(self) -> list[str]:
        """A shape is as the case says."""
        return []

    def release(self) -> None:
        """A shape reads no file."""


class _FilePart:
    """A file with values on a grid.

    Args:
        names: the variables that may be read.
    """

    def __init__(self, section: FileSection, points: GridPoints, names: list[str]) -> None:
        self._file = _open(section, points, names)
        self.unused = (
            f"{section.file} changes no grid point; correct its numbers, the threshold or labels, "
            "or offset and axes in medium.file"
        )

    @property
    def notes(self) -> list[str]:
        """Notes for users about the file."""
        return self._file.notes

    def release(self) -> None:
        self._file.release()


def _open(section: FileSection, points: GridPoints, names: list[str]) -> GridFile | ObliqueImage:
    if not section.is_nifti:
        return GridFile(section, points, open_grid_file(section.file, names), names)
    image = open_nifti(section.file)
    if image.is_oblique:
        return ObliqueImage(section, points, image, names[0])
    return GridFile(section, points, image.dataset(names[0]), names)


def _file_part(section: FileSection, medium: MediumSection, points: GridPoints) -> Part:
    if isinstance(section, PropertiesFile):
        return _PropertiesPart(section, medium, points)
    if isinstance(section, HounsfieldFile):
        return _HounsfieldPart(section, points, [section.variable])
    assert isinstance(section, LabelsFile)
    return _LabelsPart(section, points)


class _PropertiesPart(_FilePart):
    """A file with properties."""

    def __init__(self, section: PropertiesFile, medium: MediumSection, points: GridPoints) -> None:
        given = section.variables.model_dump(exclude_none=True)
        self._names = {name: given.get(name, name) for name in PROPERTIES}
        super().__init__(section, points, list(self._names.values()))
        found = self._file.variables
        self._used = [name for name in PROPERTIES if name in given or self._names[name] in found]
        missing = [
            name for name in PROPERTIES if getattr(medium, name) is None and name not in self._used
        ]
        if missing or not self._used:
            raise InputError(
                f"{self._file.path} has no variable {listed(missing or PROPERTIES)}; name it in "
                "medium.file.variables, or give a value in [medium]"
            )

    def changes(self, plane: int) -> Iterator[Change]:
        for name in self._used:
            values = self._file.plane(plane, self._names[name], _UNITS[name])
            check_values(name, values, f"{self._file.path}, variable {self._names[name]}")
            inside = self._file.inside(plane)
            yield Change(_EVERYWHERE, _EVERYWHERE, inside, {name: values[inside]})


class _HounsfieldPart(_FilePart):
    """A file with CT numbers."""

    def __init__(self, section: HounsfieldFile, points: GridPoints, names: list[str]) -> None:
        super().__init__(section, points, names)
        self._variable, self._skull = section.variable, section.skull

    def changes(self, plane: int) -> Iterator[Change]:
        hounsfield = self._file.plane(plane, self._variable)
        bone = (hounsfield >= self._skull.threshold) & self._file.inside(plane)
        yield Change(_EVERYWHERE, _EVERYWHERE, bone, bone_properties(hounsfield[bone], self._skull))


class _LabelsPart(_FilePart):
    """A file with labels of materials."""

    def __init__(self, section: LabelsFile, points: GridPoints) -> None:
        super().__init__(section, points, [section.variable])
        self._variable = section.variable
        self._materials = {float(part.label): part.properties for part in section.material}
        unknown = _labels_outside(self._file.samples(section.variable), {0.0, *self._materials})
        if unknown:
            labels = ", ".join(f"{label:g}" for label in sorted(unknown)[:5])
            raise InputError(
                f"{self._file.path} has labels without a material, {labels}; add "
                "[[medium.file.material]] for each"
            )

    def changes(self, plane: int) -> Iterator[Change]:
        labels = self._file.plane(plane, self._variable, nearest=True)
        inside = self._file.inside(plane)
        for label, properties in self._materials.items():
            yield Change(_EVERYWHERE, _EVERYWHERE, (labels == label) & inside, properties)


def _labels_outside(planes: Iterable[HostArray], known: set[float]) -> set[float]:
    """Values other than the known ones; planes without any need no sorting."""
    found: set[float] = set()
    for plane in planes:
        is_unknown = np.logical_and.reduce([plane != label for label in known])
        if is_unknown.any():
            found |= set(np.unique(plane[is_unknown]).tolist())
    return found


def check_values(name: str, values: HostArray, where: str) -> None:
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
