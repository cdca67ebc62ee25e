"""Material properties, the interface of media, and their validation.

A medium returns averages over the cells of the region one depth row at a time, so that a model may
be larger than memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

import numpy as np

from groundswell.arrays import Mask, Reals
from groundswell.errors import InputError
from groundswell.grids.axis import Axis, Spacings
from groundswell.seismology.media.plausibility import RANGES

Counts = tuple[int, int, int]

UNITS = {"vp": "m/s", "vs": "m/s", "rho": "kg/m^3", "qp": "", "qs": ""}
PROPERTIES = tuple(UNITS)

# Only text of this form reaches the unit library, which would otherwise evaluate expressions.
_UNIT = r"[A-Za-zµμ]+(?:\*\*-?[0-9])?"
_UNITS = re.compile(rf"{_UNIT}(?:[ */]+{_UNIT})*")


@dataclass(frozen=True)
class Material:
    """Properties of an isotropic viscoelastic material: arrays that broadcast to one shape.

    Args:
        vp, vs: wave speeds, m/s; vs = 0 is a fluid.
        rho: density, kg/m^3.
        qp, qs: quality factors; None in an elastic material.
    """

    vp: Reals
    vs: Reals
    rho: Reals
    qp: Reals | None = None
    qs: Reals | None = None

    def given(self) -> dict[str, Reals]:
        """The properties that are not None, by name."""
        return {name: values for name, values in vars(self).items() if values is not None}


class Medium(Protocol):
    """The material of a region of `cells` (nx, ny, nz) with edges `spacing` (x, y, z), m."""

    cells: Counts
    spacing: Spacings

    def plane(self, k: int) -> Material:
        """Averages over the cells of depth row `k`; each array broadcasts to (ny, nx)."""
        ...


class SampledMedium(Medium, Protocol):
    """A medium that also has values at points."""

    def sample(self, points: Reals) -> Material:
        """The material at points x, y, depth, (n, 3), m: arrays (n,)."""
        ...

    def is_solid(self, points: Reals) -> Mask:
        """Whether the medium is solid at points, (n,); False in gaps of a model."""
        ...


def sample_points(medium: Medium, points: Reals) -> Material:
    """The material of a `SampledMedium`, or of one that is derived from it, at points (n, 3), m."""
    return cast(SampledMedium, medium).sample(points)


def solid_at_points(medium: Medium, points: Reals) -> Mask:
    """Whether such a medium is solid at points (n, 3), m; False in gaps of a model."""
    return cast(SampledMedium, medium).is_solid(points)


def lame(material: Material) -> tuple[Reals, Reals]:
    """Lame parameters (lambda, mu), Pa, in the precision of the material."""
    mu = material.rho * material.vs**2
    return material.rho * material.vp**2 - 2 * mu, mu


def volume_average(samples: Material, mean: Callable[[Reals], Reals]) -> Material:
    """The isotropic material of a cell with several materials; a fluid if one of them is.

    Density and 1/Q have arithmetic means, mu and lambda + 2 mu harmonic means. These are exact for
    long waves that cross layers at normal incidence (Backus 1962, J. Geophys. Res. 67, 4427-4440;
    Moczo et al. 2002, Bull. Seism. Soc. Am. 92, 3042-3066).

    Args:
        samples: properties of the materials in the cell.
        mean: function that averages samples of a property over the cell.
    """

    def harmonic(values: Reals) -> Reals:
        with np.errstate(divide="ignore"):
            return 1 / mean(1 / values)

    rho = mean(samples.rho)
    p_modulus, mu = (harmonic(samples.rho * speed**2) for speed in (samples.vp, samples.vs))
    # The arithmetic mean of 1/Q is the harmonic mean of Q.
    quality = {name: harmonic(q) for name, q in samples.given().items() if name in ("qp", "qs")}
    return Material(np.sqrt(p_modulus / rho), np.sqrt(mu / rho), rho, **quality)


def describe_cell(cell: Counts, spacing: Spacings) -> str:
    """The indices (i, j, k) of a cell and the position of its centre, for messages."""
    x, y, depth = (Axis(h).at(i + 0.5) for i, h in zip(cell, spacing, strict=True))
    return f"cell {cell} (x = {x:.8g} m, y = {y:.8g} m, depth = {depth:.8g} m)"


def unit_factor(unit: str, target: str, where: str) -> float:
    """The factor from `unit` ("km/s", "g/cm^3", "kg m-3", "km.s-1") to `target`; 1 if empty.

    Raises:
        InputError: the unit is unknown or of another dimension; the message starts with `where`.
    """
    from groundswell.case.units import converter

    # NetCDF conventions write powers without a sign and products with a dot.
    text = re.sub(r"\^|\*\*", "", unit.strip()).replace(".", "*")
    text = re.sub(r"(?<=[A-Za-z])(-?[0-9])", r"**\1", text)
    if not text:
        return 1.0
    try:
        if not _UNITS.fullmatch(text):
            raise ValueError("not a product of powers of units")
        # Unit factors carry rounding errors; 15 digits make a g/cm^3 exactly 1000 kg/m^3.
        return float(f"{converter(text, target)(1.0):.15g}")
    except Exception as error:  # pint and its tokenizer raise many types
        target = target or "a plain number"
        raise InputError(f"{where}: unit {unit!r} does not convert to {target}") from error


# --- validation ----------------------------------------------------------------------------------


class Unphysical(NamedTuple):
    """An unphysical entry of a material: its index, its properties, and the rule they break."""

    entry: tuple[int, ...]
    properties: str
    rule: str


def find_unphysical(material: Material) -> Unphysical | None:
    """The first entry with a non-finite or non-positive property or bulk modulus, if any."""
    given = material.given()
    if _has_physical_extremes(material):
        return None
    arrays = dict(zip(given, np.broadcast_arrays(*given.values()), strict=True))
    for bad, rule in _rules(Material(**arrays)):
        if bad.any():
            index = np.unravel_index(int(bad.argmax()), bad.shape)
            text = ", ".join(f"{name} = {values[index]:.6g}" for name, values in arrays.items())
            return Unphysical(tuple(int(i) for i in index), text, rule)
    return None


def _has_physical_extremes(material: Material) -> bool:
    """Whether extremes show that no entry breaks a rule; they never do if there are fluids."""
    for name, values in material.given().items():
        least, most, *_ = RANGES.get(name, (0.0, np.finfo(float).max))
        if not (values.min(initial=np.inf) > max(least, 0.0) and values.max(initial=0.0) < most):
            return False
    return bool(np.all(3 * material.vp**2 > 4 * material.vs**2))


def _rules(material: Material) -> Iterator[tuple[Mask, str]]:
    """Yield each rule with the mask of the entries that break it."""
    for name, values in material.given().items():
        yield ~np.isfinite(values), f"{name} must be a finite number"
    yield material.vp <= 0, "vp must be positive"
    yield material.rho <= 0, "rho must be positive"
    yield material.vs < 0, "vs must be positive, or 0 in a fluid"
    if material.qp is not None:
        yield material.qp <= 0, "qp must be positive"
    if material.qs is not None:
        yield (material.qs <= 0) & (material.vs > 0), "qs must be positive in a solid"
    not_positive = 3 * material.vp**2 <= 4 * material.vs**2
    yield not_positive, "vp must exceed sqrt(4/3) vs, or the bulk modulus is not positive"
    for name, (least, most, unit, small, large) in RANGES.items():
        values = getattr(material, name)
        rule = f"{name} must be at least {least:g} {unit}; is the model in {small}?"
        yield (values > 0) & (values < least), rule
        yield values > most, f"{name} must be at most {most:g} {unit}; is the model in {large}?"


# --- rows and cells -------------------------------------------------------------------------------


def count_cells(mask: Mask, cells: Counts) -> int:
    """Number of cells of a plane where `mask`, which broadcasts to (ny, nx), is true."""
    return int(np.count_nonzero(mask)) * (cells[0] * cells[1] // mask.size)


def uniform_values(plane: Mapping[str, Reals]) -> dict[str, float] | None:
    """The properties of a plane if they have the same values everywhere; None if any varies."""
    if any((values != values.flat[0]).any() for values in plane.values()):
        return None
    return {name: float(values.flat[0]) for name, values in plane.items()}


def find_runs(medium: Medium) -> list[tuple[int, int]]:
    """First row and length of each run of equal depth rows; single rows if they are not known."""
    runs = getattr(medium, "runs", None)
    return runs() if runs else [(k, 1) for k in range(medium.cells[2])]


def find_linear_runs(medium: Medium) -> list[tuple[int, int]]:
    """First row and length of runs of rows in which properties are linear in depth, if known.

    The extremes of such a run are those of its first and its last row. Media that know the runs
    have a method `linear_runs`, and `sides(k)`: the material of the outermost cells of a row.
    """
    runs = getattr(medium, "linear_runs", None)
    return runs() if runs else []


def outline(plane: Material) -> Material:
    """The outermost cells of a plane (ny, nx), (n,)."""
    return Material(**{name: outermost(values) for name, values in plane.given().items()})


def outermost(values: Reals) -> Reals:
    """The outermost values of a plane (ny, nx), (n,)."""
    return np.concatenate([values[0], values[-1], values[:, 0], values[:, -1]])
