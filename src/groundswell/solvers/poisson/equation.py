"""The screened Poisson equation: its data by position, and whether they determine u."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np

from groundswell.errors import InputError, counted
from groundswell.meshes.box import Box
from groundswell.meshes.hexahedra import Floats, Hexahedra
from groundswell.meshes.partition import label_bodies
from groundswell.spectral_elements.boundary import Function


def zero(x: Floats, y: Floats, z: Floats) -> float:
    """The function that is 0 everywhere."""
    return 0.0


@dataclass(frozen=True, eq=False)
class Equation:
    """-div grad u + screening u = source, with boundary conditions.

    Args:
        source: f, by position.
        screening: lambda, 1/m^2.
        fixed: u on fixed sides, by tag.
        fluxes: du/dn on other sides, by tag; n points outwards. Sides without one have no flux.
        mean: of u over the domain, where u is determined up to a constant.
    """

    source: Function = zero
    screening: float = 0.0
    fixed: Mapping[int, Function] = field(default_factory=dict)
    fluxes: Mapping[int, Function] = field(default_factory=dict)
    mean: float | None = None


def require_solvable(mesh: Hexahedra, equation: Equation) -> None:
    """Refuse an equation without a unique solution on this mesh; raises InputError."""
    screening, fixed, mean = equation.screening, equation.fixed, equation.mean
    if mean is None:
        if not screening:
            _require_fixed(mesh, fixed)
        return
    if screening or fixed:
        raise InputError(
            f"mean = {mean:g}, but the screening or a fixed side determines u already; remove it"
        )
    if not isinstance(mesh, Box) and (count := len(np.unique(label_bodies(mesh)))) > 1:
        raise InputError(
            f"mean = {mean:g} of a mesh of {count} separate bodies, each of which needs its own; "
            "solve for one body at a time"
        )


def _require_fixed(mesh: Hexahedra, fixed: Collection[int]) -> None:
    """Refuse a mesh with a body on which u is fixed nowhere."""
    is_box = isinstance(mesh, Box)
    examined = np.array([0, mesh.count - 1]) if is_box else np.arange(mesh.count)  # on all sides
    is_fixed = np.isin(mesh.tags(examined), tuple(fixed)).any(axis=1)
    body = np.zeros(len(examined), int) if is_box else label_bodies(mesh)
    loose = ~np.isin(body, body[is_fixed])
    if not loose.any():
        return
    several = f" in {counted(loose.sum(), 'element')}, the first is {loose.argmax()}"
    where = "" if loose.all() else several
    raise InputError(
        "without a screening and without a side where u is prescribed, u is determined only up to "
        f"a constant{where}; give a screening above 0, a side, or the mean of u"
    )
