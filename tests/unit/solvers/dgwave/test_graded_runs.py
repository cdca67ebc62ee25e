"""Runs on bricks that are graded along each axis: outputs, and the motion of other bricks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dgwave_cases import EXPLOSION, build, setup
from graded_bricks import GRADED, LAYERS, X, Y, Z, layers
from result_comparison import assert_same_results
from variants import long_variants

import groundswell as gs
from groundswell.errors import InputError
from groundswell.meshes.gll import gll
from groundswell.seismology.formats.shaking_maps import open_surface
from groundswell.solvers.dgwave.recording.lattice import surface_axes

pytestmark = pytest.mark.each_value


SMALL_Q = {"qp": 60, "qs": 30}


# --- topography and outputs -----------------------------------------------------------------------


def test_depths_count_from_the_surface_of_the_elements() -> None:
    found = setup(
        **GRADED,
        topography={"kind": "formula", "elevation": "50 + 30 * sin(x / 120) * cos(y / 140)"},
    )
    points = np.random.default_rng(0).uniform(0, [800, 800, 500], (40, 3))
    places, (elements, inside) = found.geometry.place(points), found.geometry.locate(points)
    n = gll(found.degree).interpolation
    for element, at, place in zip(elements, inside, places, strict=True):
        nodes = found.geometry.hexahedra.geometry_nodes([element])[0].reshape(3, 3, 3, 3)
        r, s, t = (n([a])[0] for a in at)
        assert np.allclose(np.einsum("k,j,i,kjix->x", t, s, r, nodes), place, atol=1e-9)


def test_points_of_the_surface_divide_elements() -> None:
    x, y = surface_axes(setup(**GRADED).geometry)
    assert x.tolist() == [25, 75, 175, 325, 437.5, 512.5, 612.5, 737.5]
    assert y.tolist() == [100, 300, 450, 550, 650, 750]
    assert surface_axes(setup(**GRADED).geometry, 3)[0].tolist() == [25, 325, 612.5]


# --- runs -----------------------------------------------------------------------------------------

RUN = {
    "source": [EXPLOSION],
    "time": {"duration": 0.25},
    "run__precision": "double",
    "output": {
        "seismograms": {"interval": 0.01},
        "shaking_map": True,
        "surface": {"interval": 0.05},
        "final_fields": True,
    },
}
QUIET = {"medium": layers(200, 400, **SMALL_Q), "attenuation": {"model": "constant"}}


@pytest.mark.parametrize(
    "changes",
    [
        QUIET,
        *long_variants(
            [
                {"medium": layers(200, 400), "refinement": {"frequency": 2, "levels": 1}},
                {"medium": layers(200, 400), "boundary": {"sides": "periodic", "bottom": "sponge"}},
            ]
        ),
    ],
)
def test_equal_edges_give_the_results_of_one_edge(tmp_path: Path, changes: dict[str, Any]) -> None:
    """To the last bit."""
    edges = {"even": 200, "graded": [[200] * 4, [200] * 4, [200] * 3]}
    found = [
        gs.run(build(tmp_path, **RUN, **changes, grid__spacing=h), folder=tmp_path / name).folder
        for name, h in edges.items()
    ]
    assert_same_results(*found)


@pytest.mark.full
def test_layers_on_faces_give_the_motion_of_smaller_elements(tmp_path: Path) -> None:
    """Even elements of 200 m average over the interface at 100 m, and are off by 11 %."""
    slow = {"kind": "gaussian", "sigma": "0.25 s"}
    changes = {
        "medium": LAYERS,
        "source": [EXPLOSION | {"time_function": slow}],
        "time": {"duration": 2.0, "step": 0.0025},
        "method": {"degree": 4},
        "boundary": {"sides": "rigid", "bottom": "rigid"},
        "run": {"precision": "double"},
    }
    fine, graded, even = (
        gs.run(
            build(tmp_path, **changes, grid__spacing=[200, 200, h]), folder=tmp_path / str(n)
        ).seismograms.values
        for n, h in enumerate((100, [100, 200, 300], 200))
    )
    errors = [np.abs(found - fine).max() / np.abs(fine).max() for found in (graded, even)]
    assert errors[0] < 0.005 and errors[1] > 0.05


def test_axes_may_change_places(tmp_path: Path) -> None:
    """A source and a receiver on the diagonal of a box that is mirrored at it."""
    mirrored = {"grid__spacing": [list(Y), list(X), list(Z)]}
    place = {"source": [EXPLOSION | {"x": 430, "y": 430}]}
    found = [
        gs.run(build(tmp_path, **RUN | place, **h), folder=tmp_path / name).seismograms.values[0]
        for name, h in (("a", GRADED), ("b", mirrored))
    ]
    motion = np.abs(found[0]).max()
    assert motion > 0 and np.abs(found[0] - found[1][[1, 0, 2]]).max() < 1e-9 * motion


def test_results_hold_the_coordinates_of_graded_elements(tmp_path: Path) -> None:
    result = gs.run(build(tmp_path, **RUN, **GRADED), folder=tmp_path / "results")
    expected = surface_axes(setup(**GRADED).geometry)
    with open_surface(result.folder / "surface.nc") as series:
        surface = series.load()
    for dataset in (result.shaking_map, surface):
        for name, values in zip("xy", expected, strict=True):
            assert np.array_equal(dataset[name], values)


# --- mistakes -------------------------------------------------------------------------------------


def test_sources_outside_are_refused() -> None:
    with pytest.raises(InputError, match=r"source\[0\].depth = 601: lies below the region"):
        setup(**GRADED, source__0__depth=601)
