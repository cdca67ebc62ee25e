"""Media that vary with depth only: layers, or values at depths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from groundswell.arrays import Mask, Reals
from groundswell.errors import InputError
from groundswell.grids.axis import Axis, Spacings
from groundswell.seismology.media.material import (
    Counts,
    Material,
    find_unphysical,
    volume_average,
)
from groundswell.seismology.media.profile import Profile, linear_profile, step_profile

if TYPE_CHECKING:
    from groundswell.seismology.case.media import LayerSection


@dataclass(frozen=True)
class Layer:
    """A layer: the material from depth `top` (m) down to the top of the next layer, in SI units."""

    top: float
    vp: float
    vs: float
    rho: float
    qp: float | None = None
    qs: float | None = None


class Layered:
    """A stack of layers or, with linear interpolation, a profile through values at depths `top`.

    Cells that an interface crosses have exact volume averages. Linear profiles are averaged by
    16-point Gauss quadrature between the given depths. Two values at one depth are a discontinuity.
    The last layer extends to the bottom.

    Args:
        cells: cells of the region (nx, ny, nz).
        spacing: edges of the cells along x, y and z, m.
        layers: layers from the surface down.
        interpolation: "constant" or "linear".
        source: where they are from, for messages.

    Attributes:
        profile: the medium as a function of depth.

    Raises:
        InputError: the layers are out of order, incomplete or unphysical.
    """

    def __init__(
        self,
        cells: Counts,
        spacing: Spacings,
        layers: Sequence[Layer | LayerSection],
        interpolation: Literal["constant", "linear"] = "constant",
        source: str = "medium",
    ) -> None:
        self.cells, self.spacing = cells, spacing
        self._linear = interpolation == "linear"
        self._table = _tabulate(layers, source)
        self._tops = _ordered_tops(layers, source, repeat=self._linear)
        make_profile = linear_profile if self._linear else step_profile
        self.profile: Profile = make_profile(self._tops, self._table)

    def plane(self, k: int) -> Material:
        """Averages over the cells of depth row `k`: arrays (1, 1), float64."""
        edges = Axis(self.spacing[2]).at([k, k + 1])
        depth, weight, _ = self.profile.quadrature(edges)
        samples = self.profile.sample(depth)
        given = samples.given().values()
        if all((values == values[0]).all() for values in given):
            found = {name: values[:1] for name, values in samples.given().items()}
        else:
            found = volume_average(samples, lambda values: values @ weight[:, None]).given()
        return Material(**{name: values.reshape(1, 1) for name, values in found.items()})

    def sample(self, points: Reals) -> Material:
        """The profile at points; see `SampledMedium`."""
        return self.profile.sample(points[:, 2])

    def is_solid(self, points: Reals) -> Mask:
        """Whether the medium is solid at points, (n,)."""
        return np.asarray(self.sample(points).vs > 0)

    def runs(self) -> list[tuple[int, int]]:
        """First row and length of each run of equal depth rows, from the surface down."""
        rows, nz = Axis(self.spacing[2]).index(self._tops), self.cells[2]
        # Rows next to an interface are runs of their own, and so are all rows of a varying profile.
        if self._linear:
            starts = np.arange(min(int(rows[-1]) + 3, nz))
        else:
            starts = np.floor(rows)[:, None] + np.arange(-1, 3)
        starts = np.unique(np.append(starts.clip(0, nz - 1), 0)).astype(int)
        return list(zip(starts.tolist(), np.diff(starts, append=nz).tolist(), strict=True))


def _tabulate(layers: Sequence[Layer | LayerSection], source: str) -> dict[str, Reals]:
    """The properties of the layers as arrays (n,), checked."""
    if not layers:
        raise InputError("medium.layers is empty: give at least one layer, with top = 0")
    anelastic = any(q is not None for layer in layers for q in (layer.qp, layer.qs))
    names = ["vp", "vs", "rho", *(["qp", "qs"] if anelastic else [])]
    for number, layer in enumerate(layers, 1):
        for name in names:
            if getattr(layer, name) is None:
                raise InputError(
                    f"{source}: layer {number} (top {layer.top:g} m) has no {name}; give vp, vs "
                    "and rho everywhere, and qp and qs everywhere or nowhere"
                )
    table = {name: np.array([getattr(layer, name) for layer in layers], float) for name in names}
    if unphysical := find_unphysical(Material(**table)):
        (row,) = unphysical.entry
        where = f"layer {row + 1} (top {layers[row].top:g} m)"
        raise InputError(f"{source}: {where} has {unphysical.properties}: {unphysical.rule}")
    return table


def _ordered_tops(layers: Sequence[Layer | LayerSection], source: str, *, repeat: bool) -> Reals:
    """Depths of the tops of the layers (n,), checked: they start at 0 and increase."""
    tops = np.array([layer.top for layer in layers], float)
    if not np.isfinite(tops).all() or tops[0] != 0:
        raise InputError(
            f"{source}: the layers' tops are {tops.tolist()} m; they must be finite, the first 0 m "
            "(the surface)"
        )
    steps = np.diff(tops)
    wrong = ~((steps >= 0) if repeat else (steps > 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{source}: layer {row + 2} has its top at {tops[row + 1]:g} m, below a layer with its "
            f"top at {tops[row]:g} m; tops are depths and must increase"
            + ("" if repeat or steps[row] else ', unless interpolation is "linear"')
        )
    return tops
