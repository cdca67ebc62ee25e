"""Media with one value per cell: precision, profiles, refusals, frugality."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from random_media import CELLS, ROCK, SEA, SPACING, random_arrays, write_mesh

from groundswell.errors import InputError
from groundswell.seismology.media.cellwise import ArrayMedium, AwpMedium
from groundswell.seismology.media.layered import Layer, Layered
from groundswell.seismology.media.material import lame


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_keep_their_precision(dtype):
    arrays = random_arrays(5, dtype=dtype)
    medium = ArrayMedium(SPACING, **arrays)
    assert medium.cells == (4, 3, 5)
    for name, values in medium.plane(3).given().items():
        assert values.dtype == dtype
        assert_array_equal(values, arrays[name][3])


def test_integers_become_double_before_moduli_overflow():
    whole = {name: np.full((2, 2, 2), value, np.int32) for name, value in ROCK.items()}
    lam, mu = lame(ArrayMedium(SPACING, **whole).plane(0))
    assert_allclose(mu, 2700 * 3464.0**2)
    assert_allclose(lam, 2700 * (6000.0**2 - 2 * 3464.0**2))


def test_one_plane_of_a_huge_mapped_file_is_all_that_is_read(tmp_path):
    path, shape = tmp_path / "vp.raw", (1000, 800, 800)
    with path.open("wb") as file:
        file.truncate(4 * int(np.prod(shape)))  # 2.56 GB of hole
        file.seek(4 * 700 * 800 * 800)
        file.write(np.full(shape[1:], 5000, np.float32).tobytes())
    vp = np.memmap(path, np.float32, "r", shape=shape)
    assert path.stat().st_blocks * 512 < 1e8
    tracemalloc.start()
    plane = ArrayMedium(SPACING, vp, vp, vp).plane(700)
    assert_array_equal(plane.vp, 5000)
    assert tracemalloc.get_traced_memory()[1] < 2e7
    tracemalloc.stop()


@given(st.lists(st.integers(0, 3), min_size=5, max_size=5), st.integers(0, 2**32 - 1))
def test_arrays_that_vary_with_depth_only_are_layers(order, seed):
    """The profile is that of the same layers, a fluid among them, with equal rows merged."""
    rocks = random_arrays(seed, (4, 1, 1))
    for name, value in (SEA | {"qp": 1e4, "qs": 1e4}).items():
        rocks[name][0] = value
    arrays = {name: np.tile(values[order], (1, 3, 4)) for name, values in rocks.items()}
    found = ArrayMedium(SPACING, **arrays).profile
    starts = [k for k in range(5) if k == 0 or order[k] != order[k - 1]]
    layers = [Layer(100.0 * k, **{n: v[order[k], 0, 0] for n, v in rocks.items()}) for k in starts]
    exact = Layered(CELLS, SPACING, layers).profile
    assert_array_equal(found.interfaces, exact.interfaces)
    depth = np.random.default_rng(seed).uniform(0, 500, 30)
    for name, values in found.sample(depth).given().items():
        assert_array_equal(values, getattr(exact.sample(depth), name))


@given(st.sampled_from(["vp", "vs", "rho", "qp", "qs"]), st.integers(0, 59))
def test_one_different_cell_makes_arrays_three_dimensional(name, cell):
    arrays = {n: np.full((5, 3, 4), v) for n, v in (ROCK | {"qp": 100.0, "qs": 50.0}).items()}
    assert ArrayMedium(SPACING, **arrays).profile.interfaces.tolist() == [0.0]
    arrays[name].flat[cell] *= 1 + 1e-12
    assert ArrayMedium(SPACING, **arrays).profile is None


@pytest.fixture
def mesh(tmp_path):
    arrays = random_arrays(7, dtype=np.float32)
    write_mesh(tmp_path / "3.bin", arrays, 3)
    write_mesh(tmp_path / "8.bin", arrays, 8)
    return tmp_path, arrays


def test_an_awp_mesh_is_handed_on_in_single_precision(mesh):
    folder, arrays = mesh
    medium = AwpMedium(folder / "8.bin", CELLS, SPACING, variables=8)
    for name, values in medium.plane(2).given().items():
        assert values.dtype == np.float32
        assert_array_equal(values, arrays[name][2])


def test_an_awp_mesh_gets_q_only_on_request(mesh):
    path = mesh[0] / "3.bin"
    assert AwpMedium(path, CELLS, SPACING, variables=3).plane(0).qs is None
    options = {"variables": 3, "q_rule": "awp"}
    plane = AwpMedium(path, CELLS, SPACING, **options).plane(0)
    assert_allclose(plane.qs, 0.05 * plane.vs, rtol=1e-6)
    assert_allclose(plane.qp, 0.10 * plane.vs, rtol=1e-6)
    assert plane.qp.dtype == np.float32


def test_an_awp_mesh_that_varies_with_depth_only_is_layers(tmp_path):
    rows = random_arrays(8, (5, 1, 1), np.float32)
    write_mesh(tmp_path / "3.bin", {n: np.tile(v, (1, 3, 4)) for n, v in rows.items()}, 3)
    medium = AwpMedium(tmp_path / "3.bin", CELLS, SPACING, variables=3, q_rule="awp")
    found = medium.profile.sample(np.arange(5) * 100 + 99.0)
    assert_array_equal(found.vp, rows["vp"].ravel())
    assert_allclose(found.qs, rows["vs"].ravel() / 20, rtol=1e-6)


def test_an_awp_mesh_must_fit_the_region(mesh):
    path = mesh[0] / "8.bin"
    with pytest.raises(InputError, match="4 x 3 x 6 cells of 8 float32 need"):
        AwpMedium(path, (4, 3, 6), SPACING, variables=8)
    with pytest.raises(InputError, match="contains Q"):
        AwpMedium(path, CELLS, SPACING, variables=8, q_rule="awp")
