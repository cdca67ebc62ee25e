"""Elements of soft soil at points: kernels/iwan.h, strains that it takes, and what is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.backends import Backend, Items, Source
from groundswell.backends.source import precision
from groundswell.seismology.plasticity import IwanSoil

FIVE = [0, 1, 3, 4, 5]  # of the components xx, yy, zz, xy, xz, yz, those that kernels store


def advance_by_header(
    backend: Backend, soil: IwanSoil, stresses: Floats, strain: Floats, dtype: Any = "f8"
) -> tuple[HostArray, HostArray]:
    """`IwanSoil.advance` by the header, but for zz, (elements, 5, points) and (5, points)."""
    elements, points = soil.elements, strain.shape[1]
    modulus = np.broadcast_to(soil.modulus, points)
    deviator = strain - strain[:3].mean(axis=0) * np.array([1, 1, 1, 0, 0, 0])[:, None]
    arrays = {
        "stresses": stresses[:, FIVE],
        "lost": np.full((5, points), np.nan),
        "increment": 2 * modulus * deviator[FIVE],
        "shares": elements.shares,
        "strengths": elements.strengths,
        "scale": modulus * soil.reference_strain,
    }
    given = {
        name: backend.to_device(np.ascontiguousarray(array, dtype))
        for name, array in arrays.items()
    }
    counts = {"elements": len(elements.shares), "points": points}
    source = Source(Path(__file__).with_suffix(".h"), precision(dtype))
    backend.compile(source).launch("advance_elements", Items(points), **given, **counts)()
    lost = backend.to_host(given["lost"]).astype(float)
    return backend.to_host(given["stresses"]).astype(float), lost / (2 * modulus)


def shear(soil: IwanSoil, strains: Floats, direction: Floats) -> Floats:
    """Shear stress along a path of engineering shear strains, in units of the reference strain.

    Args:
        direction: of the strain, (6,), of length 1 in the sense of sqrt(2 e : e).
    """
    stresses, found, past = soil.at_rest(1), [], 0.0
    for strain in strains:
        step = (strain - past) * soil.reference_strain * direction[:, None]
        stresses, _ = soil.advance(stresses, step)
        total, past = stresses.sum(axis=0)[:, 0], strain
        found.append(total @ (direction * [1, 1, 1, 2, 2, 2]))
    return np.array(found)


def random_direction(rng: np.random.Generator) -> Floats:
    """A deviator e with 2 e : e = 1, as of simple shear by 1."""
    tensor = rng.normal(size=6)
    tensor[:3] -= tensor[:3].mean()
    return np.asarray(tensor / np.sqrt(2 * (tensor**2 * [1, 1, 1, 2, 2, 2]).sum()))


def masing_damping(strain: float) -> float:
    """Damping ratio of a closed loop of a hyperbolic backbone between -strain and strain.

    The area of the loop, of branches 2 f(x / 2) (Masing 1926), over 4 pi times the elastic energy
    of the secant.
    """
    x = strain
    return 4 / np.pi * (1 + 1 / x) * (1 - np.log1p(x) / x) - 2 / np.pi
