"""The errors of plane waves that `check` tells, against the waves of the solver."""

from __future__ import annotations

import numpy as np
import pytest

from groundswell.backends import open_backend
from groundswell.meshes.gll import gll
from groundswell.seismology.reference.medium import HomogeneousMedium
from groundswell.solvers.dgwave.dispersion import plane_wave_errors
from groundswell.solvers.dgwave.verification.boxes import Box, cubes, homogeneous

WATER = HomogeneousMedium(1500.0, 0.0, 1000.0)
ELEMENTS = 5  # along x, so that N waves have five points each


def amplitude(box: Box, u: np.ndarray, wavenumber: float) -> complex:
    """Of the wave exp(i w t - i k x) in the velocity along x."""
    turn = np.exp(1j * wavenumber * box.points[0])
    weights = gll(box.degree).cube_weights
    return complex(np.mean((u[:, -3] * turn) @ weights) / weights.sum())


@pytest.mark.parametrize(("degree", "upwind"), [(2, 1.0), (3, 1.0), (4, 1.0), (3, 0.5)])
def test_waves_have_the_predicted_speed_and_decay(degree: int, upwind: float) -> None:
    """Between two times, so that the modes which a plane wave also excites have gone."""
    length, counts = 1500.0, [ELEMENTS, 1, 1]
    forest = cubes(counts, length / ELEMENTS * np.array(counts), (True,) * 3)
    box = Box(forest, degree, homogeneous(WATER), True, upwind=upwind)
    wavenumber = 2 * np.pi * degree / length
    wave = np.cos(wavenumber * box.points[0])
    u = np.zeros((ELEMENTS, 4, (degree + 1) ** 3))
    u[:, 0], u[:, 1] = WATER.rho * WATER.vp * wave, wave
    period = 2 * np.pi / (WATER.vp * wavenumber)
    backend, times = open_backend("cpu"), (4 * period, 7 * period)
    first, second = (amplitude(box, box.advanced(backend, u, t), wavenumber) for t in times)
    elapsed = (box.steps(times[1]) - box.steps(times[0])) * box.dt / period
    speed, loss = plane_wave_errors(degree, 5.0, upwind)
    turned = np.angle(second / first * np.exp(-2j * np.pi * elapsed)) / (2 * np.pi)
    assert turned / elapsed == pytest.approx(speed, abs=2e-4)
    assert 1 - abs(second / first) ** (1 / elapsed) == pytest.approx(loss, abs=2e-3)


def test_errors_fall_with_the_degree_and_the_points() -> None:
    errors = [[plane_wave_errors(n, p) for p in (5.0, 7.0, 10.0)] for n in range(2, 9)]
    speeds, losses = np.abs(np.moveaxis(errors, -1, 0))
    for values in (speeds, losses):
        assert (np.diff(values, axis=0) < 0).all() and (np.diff(values, axis=1) < 0).all()
