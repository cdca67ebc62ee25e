"""Sections `[medium]` and `[attenuation]` of a case."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator

from groundswell.arrays import Reals
from groundswell.case.common import DataFile, NotEmpty, Section, TaggedUnion, exactly_one
from groundswell.case.problems import Violation, reject
from groundswell.case.units import (
    Accepts,
    Count,
    Density,
    Frequency,
    Length,
    NonNegative,
    Number,
    Positive,
    Speed,
)
from groundswell.seismology.case.medium_base import MediumBase, QRule, RhoRule, VsRule
from groundswell.seismology.case.model_files import GriddedSection
from groundswell.seismology.media.plausibility import implausible

Q = Annotated[Number, Positive]


class MaterialBase(Section):
    """Properties of a material; vs = 0 is a fluid, and without qp and qs it is elastic."""

    vp: Annotated[Speed, Positive]
    """P wave speed. It is more than sqrt(4/3) times that of S waves."""
    vs: Annotated[Speed, NonNegative]
    """S wave speed; 0 is a fluid."""
    rho: Annotated[Density, Positive]
    """Density."""
    qp: Q | None = None
    """Quality factor of P waves. Without qp and qs the material is elastic."""
    qs: Q | None = None
    """Quality factor of S waves."""

    def violations(self) -> Iterator[Violation]:
        """Omitted units, a bulk modulus that is not positive, or a single quality factor."""
        for name, value in (("vp", self.vp), ("vs", self.vs), ("rho", self.rho)):
            if found := implausible(name, value):
                allowed, meant = found
                yield (name,), f'{allowed}; if it is in {meant}, write "{value:g} {meant}"'
        least = math.sqrt(4 / 3) * self.vs
        if not self.vp > least:
            yield ("vp",), f"must exceed sqrt(4/3) vs = {least:.6g} m/s (positive bulk modulus)"
        if (self.qp is None) != (self.qs is None):
            yield (), "give both qp and qs, or neither"


class HomogeneousSection(MaterialBase, MediumBase):
    """The same material everywhere."""

    kind: Literal["homogeneous"]

    @property
    def has_q(self) -> bool:
        """Whether qp and qs are given."""
        return self.qs is not None


class LayerSection(MaterialBase):
    """A layer, from depth `top` to the top of the next."""

    top: Length
    """Depth of the top of the layer; the first layer starts at 0."""


class LayeredSection(MediumBase):
    """Flat layers, given inline or in a file, or a linear profile through their tops.

    By default, Earth models of TauP are linear profiles, and all others are layers.
    """

    kind: Literal["layered"]
    layers: Annotated[tuple[LayerSection, ...], NotEmpty] | None = None
    """Layers from the surface down, instead of a file."""
    file: DataFile | None = None
    """Table of layers, or an Earth model of TauP (.nd, .tvel), instead of layers."""
    interpolation: Literal["constant", "linear"] | None = None
    """Whether layers are uniform or a linear profile joins their tops. By default, Earth models of
    TauP are linear and all others uniform."""
    vs_rule: VsRule | None = None
    """Rule for S wave speeds that the file lacks: "brocher" (2005, eq. 6, for vp from 1.5 to 8
    km/s), "poisson" (vp / sqrt(3)) or "fluid" (0)."""
    rho_rule: RhoRule | None = None
    """Rule for densities that the file lacks: "brocher" (2005, eq. 1), the Nafe-Drake curve, for vp
    from 1.5 to 8.5 km/s."""
    q_rule: QRule | None = None
    """Rule for quality factors that the file lacks: Qs = vs / 20 with vs in m/s, and Qp = 2 Qs."""

    @property
    def has_q(self) -> bool | None:
        """Whether the layers have qp and qs."""
        return self.layers[0].qs is not None if self.layers else None

    def violations(self) -> Iterator[Violation]:
        """Layers out of order, not starting at the surface, or only some of them with Q."""
        yield from exactly_one(self, "layers", "file")
        for name in ("vs_rule", "rho_rule", "q_rule"):
            if getattr(self, name) is not None and self.file is None:
                yield (name,), "is for files that lack a column; give the values in the layers"
        layers = self.layers or ()
        if layers and layers[0].top != 0:
            yield ("layers", 0, "top"), "the first layer must start at the surface, 0 m"
        for n, (above, below) in enumerate(pairwise(layers), 1):
            if below.top < above.top or (below.top == above.top and self.interpolation != "linear"):
                yield ("layers", n, "top"), f"must lie below the top above it, {above.top:g} m"
        for n, layer in enumerate(layers):
            if (layer.qs is None) == self.has_q:
                yield ("layers", n), "give qp and qs in every layer, or in none"


class AwpSection(MediumBase):
    """An AWP mesh file of the cells of the region."""

    kind: Literal["awp"]
    file: DataFile
    """AWP mesh with one record for each cell of the region."""
    cells: tuple[Count, Count, Count]
    """Cells along x, y and depth."""
    variables: Literal[3, 5, 8]
    """Values of each record: vp, vs and rho, and perhaps quality factors."""
    q_rule: QRule | None = None
    """Rule for quality factors that the file lacks."""

    @property
    def has_q(self) -> bool:
        """Whether the mesh has quality factors or a rule for them."""
        return self.variables > 3 or self.q_rule is not None


def _as_array(value: Any) -> Reals:
    import numpy as np

    if not isinstance(value, np.ndarray) or value.ndim != 3 or value.dtype.kind not in "fiu":
        reject([((), "must be a NumPy array (nz, ny, nx) of numbers; from Python only")])
    return value


Array = Annotated[Any, PlainValidator(_as_array), Accepts("an array, from Python only")]


class ArraySection(MediumBase):
    """Arrays (nz, ny, nx) in SI units, one value per cell of the region; from Python only."""

    kind: Literal["arrays"] = "arrays"
    vp: Array
    """P wave speed, an array (nz, ny, nx), m/s."""
    vs: Array
    """S wave speed, an array (nz, ny, nx), m/s."""
    rho: Array
    """Density, an array (nz, ny, nx), kg/m^3."""
    qp: Array | None = None
    """Quality factor of P waves, an array (nz, ny, nx)."""
    qs: Array | None = None
    """Quality factor of S waves, an array (nz, ny, nx)."""

    @property
    def has_q(self) -> bool:
        """Whether qp and qs are given."""
        return self.qs is not None

    @property
    def cells(self) -> tuple[int, ...]:
        """Cells (nx, ny, nz)."""
        return tuple(self.vp.shape[::-1])

    def violations(self) -> Iterator[Violation]:
        """Arrays of different shapes, or a single quality factor."""
        given = {name: getattr(self, name) for name in ("vp", "vs", "rho", "qp", "qs")}
        for name, array in given.items():
            if array is not None and array.shape != self.vp.shape:
                yield (name,), f"has the shape {array.shape}, but vp {self.vp.shape}"
        if (self.qp is None) != (self.qs is None):
            yield (), "give both qp and qs, or neither"


MediumSection = Annotated[
    HomogeneousSection | LayeredSection | GriddedSection | AwpSection | ArraySection, TaggedUnion()
]


# --- attenuation ----------------------------------------------------------------------------------


class NoAttenuation(Section):
    """Elastic waves; quality factors of the medium are ignored."""

    model: Literal["none"]


class ConstantQ(Section):
    """Q independent of frequency within `band`; the speeds hold at the frequency `reference`."""

    model: Literal["constant"]
    reference: Annotated[Frequency, Positive] = 1.0
    """Frequency at which the speeds of the medium hold; it lies in the band."""
    band: tuple[Annotated[Frequency, Positive], Annotated[Frequency, Positive]] = (0.1, 10.0)
    """Frequencies between which Q is fitted. Widen the band to what the grid resolves; `check`
    shows the misfit, which grows with the band."""

    def violations(self) -> Iterator[Violation]:
        """A band whose frequencies do not increase, or that does not contain the reference."""
        low, high = self.band
        if not low < high:
            yield ("band",), "must be two frequencies, the lower one first"
        elif not low <= self.reference <= high:
            within = f"must lie in the band, {low:g} to {high:g} Hz, where Q is fitted"
            yield ("reference",), f"{within}, so that the speeds there are those of the medium"


class PowerLawQ(ConstantQ):
    """Q(f) = Q0 below the frequency `transition`, Q0 (f / transition)^exponent above it."""

    model: Literal["power-law"]  # type: ignore[assignment]
    exponent: Annotated[Number, Field(ge=0, le=1)]
    """Exponent of the growth of Q with frequency."""
    transition: Annotated[Frequency, Positive] = 1.0
    """Frequency above which Q grows."""


Attenuation = Annotated[NoAttenuation | ConstantQ | PowerLawQ, TaggedUnion("model")]
