"""Subfaults of a rupture as a source in SRF: moment tensors, times and what is left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from groundswell.grids.geography import Geography
from groundswell.meshes.gll import gll
from groundswell.seismology.faults.points import FaultPoints, frame_of
from groundswell.seismology.faults.subfaults import FaceQuadrature, Subfaults, rupture_source
from groundswell.seismology.formats.srf import read_srf, write_srf
from groundswell.seismology.formats.srf_content import Srf
from groundswell.seismology.sources import moment as tensors

rng = np.random.default_rng(7)
FACES, NODES, SAMPLES, STEP = 30, 9, 12, 0.05
SIZE = (20e3, 30e3)
MEAN = FaceQuadrature(*(np.full(shape, 1.0 / shape[-1]) for shape in ((1, NODES), (1,), (NODES,))))
GEOGRAPHY = Geography.from_center((12.0, 47.0), SIZE, azimuth=35.0)


def faces() -> tuple[FaultPoints, Subfaults]:
    """Plane faces of any direction, some with the hanging wall below."""
    normal = rng.normal(size=(FACES, 3))
    normal[:, 2] = np.minimum(normal[:, 2], 0.2)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.repeat(normal, NODES, axis=0)
    count = FACES * NODES
    position = rng.uniform(2e3, 18e3, (count, 3))
    area, nothing = rng.uniform(1e4, 2e4, count), np.zeros(count)
    points = FaultPoints(position, normal, *frame_of(normal), nothing, nothing, area)
    mu, density = (np.repeat(rng.uniform(low, 2 * low, FACES), NODES) for low in (2e10, 2500.0))
    return points, Subfaults.of(points, mu, density, MEAN)


@pytest.fixture(scope="module")
def rupture() -> tuple[FaultPoints, Subfaults, np.ndarray, Srf]:
    points, subfaults = faces()
    slip = np.cumsum(rng.normal(0.5, 1, (SAMPLES, 2, FACES)), axis=0)
    slip -= slip[:1]
    slip[:4, :, 5] = 0  # it breaks late
    slip[:, :, 6] = 0  # it does not break
    times = 0.1 + STEP * np.arange(SAMPLES)
    return points, subfaults, slip, rupture_source(subfaults, slip, times, GEOGRAPHY)


def test_moment_tensors_are_those_of_slip_and_normal(rupture: tuple) -> None:
    """In the frame of the grid, computed here from vectors, there from angles."""
    points, subfaults, slip, source = rupture
    normal, strike, updip = (
        getattr(points, name)[::NODES] for name in ("normal", "strike", "updip")
    )
    vector = slip[-1, 0][:, None] * strike + slip[-1, 1][:, None] * updip
    outer = np.einsum("ni,nj->nij", vector, normal)
    scale = (subfaults.mu * subfaults.area)[:, None, None]
    expected = scale * (outer + outer.swapaxes(1, 2))
    slips = source.integrated_slip
    found = sum(
        slips[:, n, None]
        * tensors.double_couple(
            source.strike,
            source.dip,
            source.rake + 90 * n,
            source.rigidity * source.area,
            GEOGRAPHY.true_azimuth,
        )
        for n in range(2)
    )
    assert tensors.as_matrix(found) == pytest.approx(expected, rel=1e-9, abs=1e-9 * expected.max())
    assert (source.dip <= 90).all()


def test_places_and_areas_are_those_of_the_faces(rupture: tuple) -> None:
    points, _, _, source = rupture
    area = points.area.reshape(FACES, NODES)
    assert source.area == pytest.approx(area.sum(axis=1))
    x, y = GEOGRAPHY.to_grid(source.longitude, source.latitude)
    middle = points.position.reshape(FACES, NODES, 3).mean(axis=1)
    assert np.column_stack([x, y, source.depth]) == pytest.approx(middle, abs=1e-3)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5, 8])
def test_subfaults_of_elements_integrate_slip_of_their_degree(degree: int) -> None:
    """On a parallelogram; positions and slip are polynomials."""
    quadrature, nodes = FaceQuadrature.of_elements(degree), gll(degree)
    assert quadrature.subfaults == (degree // 2 + 1) ** 2
    a, b = (axis.ravel() for axis in np.meshgrid(nodes.points, nodes.points, indexing="ij"))
    position = np.column_stack([300 * a + 40 * b, 0 * a, 1e3 + 200 * b])
    normal = np.tile([0.0, -1.0, 0.0], (len(a), 1))
    area = 60e3 * np.kron(nodes.weights, nodes.weights)
    points = FaultPoints(position, normal, *frame_of(normal), position[:, 0], position[:, 2], area)
    found = Subfaults.of(points, np.ones(len(a)), np.ones(len(a)), quadrature)
    assert found.area.sum() == pytest.approx(240e3)
    power = np.polynomial.Polynomial(rng.normal(size=degree + 1))
    slip = quadrature.at_subfaults(power(a) * power(b))
    integral = power.integ()(1) - power.integ()(-1)
    assert found.area @ slip == pytest.approx(60e3 * integral**2)
    places = np.polynomial.legendre.leggauss(degree // 2 + 1)[0]
    assert np.unique(found.position[:, 2].round(6)) == pytest.approx(1e3 + 200 * places)
    assert found.down_dip == pytest.approx(found.position[:, 2])


def test_interpolated_rates_have_the_slip_of_intervals(rupture: tuple) -> None:
    """The means in intervals are those of polynomials of degree 2; rates start one step early."""
    _, _, slip, source = rupture
    late, rake = 5, np.radians(source.rake)
    assert source.onset[late] == pytest.approx(0.1 + 2.5 * STEP)
    assert source.onset[0] == pytest.approx(0.1 + 0.5 * STEP)
    rate = np.diff(slip[2:, :, late], axis=0) / STEP
    along = rate @ np.array([np.cos(rake[late]), np.sin(rake[late])])
    padded = np.array([along[0], *along, along[-1]])
    expected = (10 * along - padded[:-2] - padded[2:]) / 8
    assert source.rate(late, 0) == pytest.approx(expected)
    assert source.rate(late, 0).sum() == pytest.approx(along.sum())
    assert (source.counts[6] == 0).all() and (source.slip[6] == 0).all()
    assert np.abs(source.integrated_slip[:, 1]).max() < 1e-9  # all final slip is along rake


def test_the_file_is_read_back(rupture: tuple, tmp_path: Path) -> None:
    *_, source = rupture
    write_srf(tmp_path / "rupture.srf", source)
    again = read_srf(tmp_path / "rupture.srf")
    assert again.version == "2.0"
    assert again.integrated_slip == pytest.approx(source.integrated_slip, abs=1e-7)
    assert again.rigidity == pytest.approx(source.rigidity)
