"""Copies of coefficients, a few planes at a time, against those of the whole medium."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from groundswell.backends import host_threads, open_backend
from groundswell.grids.cartesian import Grid
from groundswell.solvers.ultrasound.device_coefficients import DeviceCoefficients
from groundswell.solvers.ultrasound.medium import AcousticMedium
from groundswell.solvers.ultrasound.operators import SpectralOperators

SHAPE = (7, 5, 6)
RNG = np.random.default_rng(6)
UNIFORM = AcousticMedium(1500.0, 1000.0, 1e-6, 1.4, 6.0)
VARYING = AcousticMedium(
    RNG.uniform(1400, 3000, SHAPE), RNG.uniform(900, 2000, SHAPE), RNG.uniform(0, 1e-6, SHAPE), 1.4
)
MEDIA = {
    "uniform": UNIFORM,
    "varying": VARYING,
    "sound speed": replace(UNIFORM, speed=VARYING.speed),
    "losses in one plane": replace(UNIFORM, absorption=np.eye(1, 7).T[:, :, None] * np.ones(SHAPE)),
    "given staggered density": replace(VARYING, staggered=[1000.0, VARYING.density, 900.0]),
}


@pytest.fixture(params=[(1, True), (3, True), (3, False)])
def to_device(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> DeviceCoefficients:
    """Copies two planes at a time, with some threads, to a device on the host or elsewhere."""
    threads, on_host = request.param
    backend = open_backend("cpu")
    monkeypatch.setattr(host_threads, "default_threads", lambda: threads)
    monkeypatch.setattr(host_threads, "CHUNK", 2 * SHAPE[1] * SHAPE[2])
    monkeypatch.setattr(backend, "on_host", on_host)
    return DeviceCoefficients(backend, "float32", SHAPE)


@pytest.mark.parametrize("name", MEDIA)
def test_coefficients_of_planes_are_those_of_the_medium(
    name: str, to_device: DeviceCoefficients
) -> None:
    medium = MEDIA[name]
    found = to_device.by_planes(medium.state_coefficients_in)
    for copy, values in zip(found, medium.state_coefficients, strict=True):
        assert copy.dtype == np.float32
        assert np.array_equal(copy, np.atleast_1d(values).astype("float32"))


@pytest.mark.parametrize("name", MEDIA)
@pytest.mark.parametrize("axis", range(3))
def test_planes_have_the_staggered_density_of_the_whole(name: str, axis: int) -> None:
    medium = MEDIA[name]
    whole = np.broadcast_to(medium.staggered_density(axis), SHAPE)
    for planes in (slice(0, 3), slice(3, 7), slice(6, 7)):
        found = medium.staggered_density(axis, planes)
        assert np.array_equal(np.broadcast_to(found, whole[planes].shape), whole[planes])


def test_uniform_properties_can_have_a_value_at_each_point(to_device: DeviceCoefficients) -> None:
    assert to_device.property(3.0).shape == (1,)
    assert np.array_equal(to_device.property(3.0, uniform=False), np.full(SHAPE, 3.0))


def test_tables_of_planes_are_those_of_all_wavenumbers() -> None:
    nz, ny, nx = SHAPE
    operators = SpectralOperators(Grid((nx, ny, nz), (1e-3, 2e-3, 3e-3)), 1e-7, 1500.0)
    for planes in (slice(0, 2), slice(5, 7)):
        assert np.array_equal(operators.kappa(planes), operators.kappa()[planes])
        assert np.array_equal(operators.source_kappa(planes), operators.source_kappa()[planes])
        found = operators.fractional_laplacian(0.4, planes)
        assert np.array_equal(found, operators.fractional_laplacian(0.4)[planes])


@pytest.mark.parametrize("absorption", [0.0, 1e-6])
@pytest.mark.parametrize("nonlinearity", [0.0, 5.0])
@pytest.mark.parametrize("speed", [1500.0, VARYING.speed])
def test_coefficients_are_arrays_only_where_they_are_needed(
    speed: Any, nonlinearity: float, absorption: float
) -> None:
    """B/(2A rho_0) varies with the density, and losses vary with the speed, if there are any."""
    medium = AcousticMedium(speed, VARYING.density, absorption, 1.4, nonlinearity)
    found = DeviceCoefficients(open_backend("cpu"), "float32", SHAPE).by_planes(
        medium.state_coefficients_in
    )
    varies = np.ndim(speed) > 0
    needed = [varies, nonlinearity > 0, *[varies and absorption > 0] * 2]
    assert [array.shape == SHAPE for array in found] == needed
