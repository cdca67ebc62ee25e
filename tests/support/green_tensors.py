"""Random strain Green tensors, and their seismograms by convolution in the time domain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray
from numpy.typing import NDArray

from groundswell.seismology.faults.subfaults import FaceQuadrature, Subfaults
from groundswell.seismology.green.points import SHEAR, TENSOR
from groundswell.seismology.sources.moment import double_couple
from groundswell.seismology.sources.point_sources import PointSource

DT = 0.01  # s, of runs
POSITIONS = np.array([[1000.0, 800.0, 500.0], [1500.0, 800.0, 500.0], [1000.0, 800.0, 900.0]])
STRIKE, DIP = 30.0, 70.0


def smooth(shape: tuple[int, ...], samples: int, every: int = 1) -> NDArray[Any]:
    """Random pulses, smooth enough for samples `every` steps apart, (*shape, samples)."""
    rng = np.random.default_rng(5)
    when = DT * every * np.arange(samples)
    size, middle = rng.normal(size=(*shape, 1)), rng.uniform(0.5, 0.8, (*shape, 1))
    return size * np.exp(-0.5 * ((when - middle) / 0.06) ** 2)


def make_tensor(samples: int = 240, every: int = 1, shear: bool = False) -> xarray.Dataset:
    """A tensor at POSITIONS, with the attributes that synthesis reads."""
    names = SHEAR if shear else TENSOR
    planes = [double_couple(STRIKE, DIP, rake) for rake in (0.0, 90.0)]
    basis = np.tile(planes if shear else np.eye(6), (len(POSITIONS), 1, 1))
    points = {name: ("point", POSITIONS[:, n]) for n, name in enumerate(("x", "y", "depth"))}
    strain = smooth((3, len(POSITIONS), len(names)), samples, every)
    attrs = {
        **{"network": "GS", "station": "USC", "azimuth": 0.0, "medium": "m", "time_step": DT},
        **{"start": 0.5 * DT, "interval": every * DT, "centroid": 20.5 * DT},
        **{"station_x": 0.0, "station_y": 0.0, "station_depth": 0.0},
    }
    return xarray.Dataset(
        {
            **points,
            "lam": ("point", np.full(len(POSITIONS), 3e10)),
            "mu": ("point", np.array([3e10, 2e10, 2.5e10])),
            "basis": (("point", "component", "tensor"), basis),
            "strain": (("force", "point", "component", "time"), strain),
        },
        {
            **{"force": [*"xyz"], "component": [*names], "tensor": [*TENSOR]},
            "time": 0.5 * DT + DT * every * np.arange(samples),
        },
        attrs,
    )


def make_sources(starts: Sequence[float]) -> list[PointSource]:
    """Sources with random moments at POSITIONS, whose rates start at these times."""
    rng = np.random.default_rng(2)
    shape = np.exp(-0.5 * ((np.arange(80) * DT - 0.4) / 0.05) ** 2)
    return [
        PointSource(tuple(place), moment * 1e15, None, start, DT, shape, n + 1)
        for n, (place, moment, start) in enumerate(
            zip(POSITIONS.tolist(), rng.normal(size=(len(POSITIONS), 6)), starts, strict=False)
        )
    ]


def make_subfaults() -> Subfaults:
    """Subfaults of a dynamic rupture at POSITIONS."""
    ones, cells = np.ones(len(POSITIONS)), FaceQuadrature.of_cells()
    moduli = 2e10 * ones, 2700 * ones
    plane = STRIKE * ones, DIP * ones, 1e4 * ones
    return Subfaults(POSITIONS, *plane, *moduli, 0 * ones, 0 * ones, cells)


def convolved(
    tensor: xarray.Dataset, sources: Sequence[PointSource], first: int = 0
) -> NDArray[Any]:
    """Velocity (3, samples) by sums over all pairs of samples, at each time step of the runs.

    Args:
        first: step at which the seismograms start, at or before all sources.
    """
    strain, basis = tensor["strain"].values, tensor["basis"].values
    samples = strain.shape[-1]
    when = DT * (first + np.arange(samples))
    total = np.zeros((3, samples))
    for source in sources:
        point = int(np.abs(POSITIONS - source.position).sum(axis=1).argmin())
        factors = np.linalg.lstsq(basis[point].T, np.asarray(source.moment), rcond=None)[0]
        response = np.einsum("k,ckt->ct", factors, strain[:, point])
        grid = source.start + source.step * np.arange(source.samples.size)
        rates = np.interp(when, grid, source.samples, left=0.0, right=0.0)
        for axis in range(3):
            total[axis] += DT * np.convolve(rates, response[axis])[:samples]
    return total
