"""Section `[medium]` of an ultrasound case."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, WrapValidator

from groundswell.case.common import DataFile, NotEmpty, Section, TaggedUnion, repeated
from groundswell.case.problems import Violation, reject
from groundswell.case.recording import AxisName
from groundswell.case.units import Density, Length, NonNegative, Number, Positive, Speed, Unit
from groundswell.errors import counted, listed
from groundswell.solvers.ultrasound.absorption import STOKES
from groundswell.solvers.ultrasound.media import shapes
from groundswell.solvers.ultrasound.medium import Values

PROPERTIES = ("speed", "density", "absorption", "nonlinearity")
NETCDF, NIFTI = (".nc", ".h5", ".hdf5"), (".nii", ".nii.gz")

SignedAxis = Literal["x", "y", "z", "-x", "-y", "-z"]
Effect = Literal["absorption", "dispersion"]

# --- materials ------------------------------------------------------------------------------------


class MaterialSection(Section):
    """Properties of a part of the medium; those that are left out keep their values.

    Absorption is in dB/(MHz^y cm); nonlinearity is the parameter B/A.
    """

    speed: Annotated[Speed, Positive] | None = None
    density: Annotated[Density, Positive] | None = None
    absorption: Annotated[Number, NonNegative] | None = None
    nonlinearity: Annotated[Number, NonNegative] | None = None

    @property
    def properties(self) -> dict[str, float]:
        """The given properties by name."""
        values = {name: getattr(self, name) for name in PROPERTIES}
        return {name: value for name, value in values.items() if value is not None}

    def violations(self) -> Iterator[Violation]:
        """No property at all."""
        if not self.properties:
            yield (), f"give {listed(PROPERTIES)}"


# --- shapes ---------------------------------------------------------------------------------------


def _two_or_three(point: tuple[float, ...]) -> tuple[float, ...]:
    if len(point) not in (2, 3):
        reject([((), "must be a list of two or three lengths: x, y and, in 3D, z")])
    return point


Point = Annotated[tuple[Length, ...], AfterValidator(_two_or_three)]


def _same_length(section: Section, first: str, second: str) -> Iterator[Violation]:
    n = len(getattr(section, first))
    if len(getattr(section, second)) != n:
        yield (second,), f"must have {counted(n, 'entry', 'entries')}, as {first} has"


class LayerSection(MaterialSection):
    """The layer from <= position < to along an axis; either end may be missing."""

    kind: Literal["layer"]
    axis: AxisName
    low: Length | None = Field(None, alias="from")
    high: Length | None = Field(None, alias="to")

    @property
    def geometry(self) -> shapes.Shape:
        """The shape."""
        return shapes.layer("xyz".index(self.axis), self.low, self.high)

    def violations(self) -> Iterator[Violation]:
        """Ends out of order."""
        yield from super().violations()
        if self.low is not None and self.high is not None and not self.low < self.high:
            yield ("to",), f"must be greater than from, {self.low:g} m"


class BoxSection(MaterialSection):
    """The box low <= position < high."""

    kind: Literal["box"]
    low: Point
    high: Point

    @property
    def geometry(self) -> shapes.Shape:
        """The shape."""
        return shapes.Box(self.low, self.high)

    def violations(self) -> Iterator[Violation]:
        """Corners out of order."""
        yield from super().violations()
        yield from _same_length(self, "low", "high")
        for n, (low, high) in enumerate(zip(self.low, self.high, strict=False)):
            if not low < high:
                yield ("high", n), f"must be greater than low[{n}], {low:g} m"


class SphereSection(MaterialSection):
    """A ball; with `inner`, the radius of its hollow, a shell."""

    kind: Literal["sphere"]
    centre: Point
    radius: Annotated[Length, Positive]
    inner: Annotated[Length, Positive] | None = None

    @property
    def geometry(self) -> shapes.Shape:
        """The shape."""
        return shapes.Sphere(self.centre, self.radius, self.inner)

    def violations(self) -> Iterator[Violation]:
        """A hollow that is not smaller than the sphere."""
        yield from super().violations()
        if self.inner is not None and not self.inner < self.radius:
            yield ("inner",), f"must be less than the radius, {self.radius:g} m"


class CylinderSection(MaterialSection):
    """A circular cylinder between two points on its axis."""

    kind: Literal["cylinder"]
    start: Point
    end: Point
    radius: Annotated[Length, Positive]

    @property
    def geometry(self) -> shapes.Shape:
        """The shape."""
        return shapes.Cylinder(self.start, self.end, self.radius)

    def violations(self) -> Iterator[Violation]:
        """Ends that coincide."""
        yield from super().violations()
        yield from _same_length(self, "start", "end")
        if self.start == self.end:
            yield ("end",), "must differ from start"


ShapeSection = Annotated[LayerSection | BoxSection | SphereSection | CylinderSection, TaggedUnion()]


# --- files ----------------------------------------------------------------------------------------


class FileSection(Section):
    """A file with values on a rectilinear grid.

    Attributes:
        file: NetCDF or HDF5 with coordinates x, y, z, or NIfTI.
        axes: axis of the file along x, y and z of the case; "-z" is the z axis reversed.
        offset: added to coordinates along x, y and z, m.
        outside: what the region has outside the file, which must cover the region by default.
    """

    file: DataFile
    axes: tuple[SignedAxis, SignedAxis, SignedAxis] = ("x", "y", "z")
    offset: tuple[Length, Length, Length] = (0.0, 0.0, 0.0)
    outside: Literal["uniform"] | None = None

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
    density: str | None = None
    absorption: str | None = None
    nonlinearity: str | None = None


class PropertiesFile(FileSection):
    """Properties in NetCDF or HDF5, interpolated linearly; others keep their values."""

    quantity: Literal["properties"]
    variables: VariablesSection = VariablesSection()

    def violations(self) -> Iterator[Violation]:
        """A NIfTI file, which has a single array."""
        yield from super().violations()
        if self.is_nifti:
            yield ("quantity",), 'must be "hounsfield" or "labels" for a NIfTI file'


_BONE = Unit("", "the CT number of the densest bone in the scan, a plain number", "2000")


class SkullSection(Section):
    """Properties of skull bone from CT numbers; see skull.py.

    The default speeds and densities are customary for cortical bone and water. The CT number of
    bone has no default because it depends on the scanner; absorption has none because its unit
    depends on the power y of the medium.

    Attributes:
        bone_hounsfield: CT number of bone without pores: that of the densest bone in the scan.
        absorption: of bone without pores and of pores only, dB/(MHz^y cm).
        threshold: CT number at and above which a point is bone.
    """

    bone_hounsfield: Annotated[float, _BONE, Positive]
    absorption: tuple[Annotated[Number, NonNegative], Annotated[Number, NonNegative]]
    threshold: Number = 300.0
    bone_speed: Annotated[Speed, Positive] = 2900.0
    bone_density: Annotated[Density, Positive] = 2100.0
    water_speed: Annotated[Speed, Positive] = 1500.0
    water_density: Annotated[Density, Positive] = 1000.0

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
    skull: SkullSection


class LabelledMaterial(MaterialSection):
    """Properties of the points with one label."""

    label: Annotated[int, Field(strict=True, ge=0, le=2**24)]


class LabelsFile(FileSection):
    """Labels of materials; a point has the nearest label. Label 0 may have no material."""

    quantity: Literal["labels"]
    variable: str = "labels"
    material: Annotated[tuple[LabelledMaterial, ...], NotEmpty]

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

    Attributes:
        speed: sound speed, m/s; required unless the file has it.
        density: density, kg/m^3; required unless the file has it.
        absorption: coefficient, dB/(MHz^y cm).
        power: exponent y of the frequency in the absorption; 2 is a thermoviscous fluid.
        nonlinearity: parameter B/A.
        effects: which of absorption and the accompanying dispersion to include.
        shape: parts with other properties; later shapes replace earlier ones.
        file: properties, CT numbers or labels on a grid.
    """

    speed: Annotated[Values, _SPEED, Positive, OrArray] | None = None
    density: Annotated[Values, _DENSITY, Positive, OrArray] | None = None
    absorption: Annotated[Values, _NUMBER, NonNegative, OrArray] = 0.0
    power: Annotated[Number, Field(gt=0, le=3)] = STOKES
    nonlinearity: Annotated[Values, _NUMBER, NonNegative, OrArray] = 0.0
    effects: tuple[Effect, ...] = ("absorption", "dispersion")
    shape: tuple[ShapeSection, ...] = ()
    file: MediumFile | None = None

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
