"""Section `[medium]` of an ultrasound case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, WrapValidator

from groundswell.case.common import DataFile, NotEmpty, Section, TaggedUnion, repeated
from groundswell.case.problems import Violation, reject
from groundswell.case.units import Density, Length, NonNegative, Number, Positive, Speed, Unit
from groundswell.errors import listed
from groundswell.solvers.ultrasound.absorption import STOKES
from groundswell.solvers.ultrasound.media.shape_case import (
    PROPERTIES as PROPERTIES,
)
from groundswell.solvers.ultrasound.media.shape_case import (
    MaterialSection,
    ShapeSection,
)
from groundswell.solvers.ultrasound.medium import Values

NETCDF, NIFTI = (".nc", ".h5", ".hdf5"), (".nii", ".nii.gz")

SignedAxis = Literal["x", "y", "z", "-x", "-y", "-z"]
Effect = Literal["absorption", "dispersion"]

# --- files ----------------------------------------------------------------------------------------


class FileSection(Section):
    """A file with values on a rectilinear grid."""

    file: DataFile
    """NetCDF or HDF5 file with coordinates x, y, z; for labels and CT numbers, also NIfTI."""
    axes: tuple[SignedAxis, SignedAxis, SignedAxis] = ("x", "y", "z")
    """Axes of the file along x, y and z of the case; "-z" is the reversed z axis."""
    offset: tuple[Length, Length, Length] = (0.0, 0.0, 0.0)
    """Lengths that are added to the coordinates of the file."""
    outside: Literal["uniform"] | None = None
    """What the region has outside the file; by default, the file must cover the region."""

    @property
    def is_nifti(self) -> bool:
        """Whether the file's name is that of a NIfTI file."""
        return self.file.name.lower().endswith(NIFTI)

    def violations(self) -> Iterator[Violation]:
        """An unknown format, or an axis that occurs twice."""
        if not self.file.name.lower().endswith(NETCDF + NIFTI):
            yield ("file",), f"must end in {listed(NETCDF + NIFTI)}"
        if len({axis[-1] for axis in self.axes}) < 3:
            yield ("axes",), 'must name each of x, y and z once, as in ["x", "-z", "y"]'


class VariablesSection(Section):
    """Names of the variables of a file."""

    speed: str | None = None
    """Name of the variable of sound speeds."""
    density: str | None = None
    """Name of the variable of densities."""
    absorption: str | None = None
    """Name of the variable of absorption."""
    nonlinearity: str | None = None
    """Name of the variable of B/A."""


class PropertiesFile(FileSection):
    """Properties in NetCDF or HDF5, interpolated linearly; others keep their values."""

    quantity: Literal["properties"]
    variables: VariablesSection = VariablesSection()
    """Names of the variables, if they differ from those of the properties."""

    def violations(self) -> Iterator[Violation]:
        """A NIfTI file, which has a single array."""
        yield from super().violations()
        if self.is_nifti:
            yield ("quantity",), 'must be "hounsfield" or "labels" for a NIfTI file'


_BONE = Unit("", "the CT number of the densest bone in the scan, a plain number", "2000")


class SkullSection(Section):
    """Properties of skull bone from CT numbers, which give its porosity (Aubry et al. 2003).

    The default speeds and densities are customary for cortical bone and water. The CT number of
    bone has no default because it depends on the scanner; absorption has none because its unit
    depends on the power y of the medium.
    """

    bone_hounsfield: Annotated[float, _BONE, Positive]
    """CT number of bone without pores: that of the densest bone in the scan."""
    absorption: tuple[Annotated[Number, NonNegative], Annotated[Number, NonNegative]]
    """Absorption of bone without pores and of pores only, dB/(MHz^y cm)."""
    threshold: Number = 300.0
    """CT number at and above which a point is bone."""
    bone_speed: Annotated[Speed, Positive] = 2900.0
    """Sound speed of bone without pores."""
    bone_density: Annotated[Density, Positive] = 2100.0
    """Density of bone without pores."""
    water_speed: Annotated[Speed, Positive] = 1500.0
    """Sound speed in the pores."""
    water_density: Annotated[Density, Positive] = 1000.0
    """Density in the pores."""

    def violations(self) -> Iterator[Violation]:
        """Limits out of order."""
        if self.absorption[0] > self.absorption[1]:
            yield ("absorption",), "must be the smallest and the largest absorption, in this order"
        if not self.threshold < self.bone_hounsfield:
            yield ("threshold",), f"must be less than bone_hounsfield, {self.bone_hounsfield:g}"


class HounsfieldFile(FileSection):
    """CT numbers, interpolated linearly; points that are not bone keep their properties."""

    quantity: Literal["hounsfield"]
    variable: str = "hounsfield"
    """Name of the variable of CT numbers."""
    skull: SkullSection
    """Properties of bone by CT number."""


class LabelledMaterial(MaterialSection):
    """Properties of the points with one label."""

    label: Annotated[int, Field(strict=True, ge=0, le=2**24)]
    """Label of the points of this material."""


class LabelsFile(FileSection):
    """Labels of materials; a point has the nearest label. Label 0 may have no material."""

    quantity: Literal["labels"]
    variable: str = "labels"
    """Name of the variable of labels."""
    material: Annotated[tuple[LabelledMaterial, ...], NotEmpty]
    """Properties by label. Repeat the table for more."""

    def violations(self) -> Iterator[Violation]:
        """A label with two materials."""
        yield from super().violations()
        labels = [material.label for material in self.material]
        for n, label in enumerate(labels):
            if label in labels[:n]:
                yield ("material", n, "label"), "already has a material; give each label once"


MediumFile = Annotated[PropertiesFile | HounsfieldFile | LabelsFile, TaggedUnion("quantity")]


# --- the medium -----------------------------------------------------------------------------------


def _or_array(value: Any, read: Callable[[Any], Any]) -> Values:
    """Validate an array, which is possible from Python only; `read` validates other values."""
    if not isinstance(value, np.ndarray):
        number: float = read(value)
        return number
    if value.ndim not in (2, 3) or value.dtype.kind not in "fiu":
        reject([((), "must be a number, or an array (nz, ny, nx) or (ny, nx) of numbers")])
    return value


OrArray = WrapValidator(_or_array)
_SPEED = Unit("m/s", "a speed", "1500 m/s")
_DENSITY = Unit("kg/m^3", "a density", "1000 kg/m^3")
_NUMBER = Unit("", "a plain number", "0.5")


class MediumSection(Section):
    """`[medium]`: uniform values, then those of a file, then those of shapes, in this order.

    From Python, properties may also be arrays (nz, ny, nx), or (ny, nx) in two dimensions, with one
    value per point of the region; absorbing layers continue the values at its edges.
    """

    speed: Annotated[Values, _SPEED, Positive, OrArray] | None = None
    """Sound speed, required unless the file has it."""
    density: Annotated[Values, _DENSITY, Positive, OrArray] | None = None
    """Density, required unless the file has it."""
    absorption: Annotated[Values, _NUMBER, NonNegative, OrArray] = 0.0
    """Coefficient of the absorption, dB/(MHz^y cm)."""
    power: Annotated[Number, Field(gt=0, le=3)] = STOKES
    """Exponent y of the frequency in the absorption; 2 is a thermoviscous fluid."""
    nonlinearity: Annotated[Values, _NUMBER, NonNegative, OrArray] = 0.0
    """Parameter B/A; if it is 0 everywhere, the equations are linear."""
    effects: tuple[Effect, ...] = ("absorption", "dispersion")
    """Effects to include. Dispersion would be infinite for y = 1 and y = 3; leave it out."""
    shape: tuple[ShapeSection, ...] = ()
    """Parts with other properties; later ones replace earlier ones. With two coordinates, they
    extend to infinity along z."""
    file: MediumFile | None = None
    """Properties, CT numbers or labels on a grid."""

    @property
    def may_absorb(self) -> bool:
        """Whether the coefficient of the absorption may be positive somewhere."""
        uniform = np.ndim(self.absorption) == 0 and self.absorption == 0
        return not uniform or self.file is not None or any(part.absorption for part in self.shape)

    def violations(self) -> Iterator[Violation]:
        """A missing property, arrays of different shapes, or infinite dispersion."""
        for name, unit in (("speed", _SPEED), ("density", _DENSITY)):
            has_file = isinstance(self.file, PropertiesFile) and self.file.outside is None
            if getattr(self, name) is None and not has_file:
                yield (name,), f"is required; give {unit.expected}"
        yield from self._array_violations()
        yield from repeated("effects", self.effects)
        if self.power in (1, 3) and "dispersion" in self.effects and self.may_absorb:
            yield (
                ("power",),
                "has infinite dispersion, tan(pi y / 2); use a power other than 1 and 3, or "
                'effects = ["absorption"]',
            )

    def _array_violations(self) -> Iterator[Violation]:
        given = {name: np.shape(getattr(self, name)) for name in PROPERTIES}
        arrays = {name: shape for name, shape in given.items() if shape}
        first = next(iter(arrays), "")
        for name, shape in arrays.items():
            if shape != arrays[first]:
                yield (name,), f"has the shape {shape}, but {first} {arrays[first]}"
