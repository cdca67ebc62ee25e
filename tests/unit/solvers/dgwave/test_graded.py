"""Boxes of bricks that are graded along each axis: elements, media, layers, refinement, outputs."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import quantities_of, warnings_of
from dgwave_cases import EXPLOSION, build, setup
from result_comparison import assert_same_results
from variants import long_variants

import groundswell as gs
from groundswell.errors import CaseError, InputError
from groundswell.meshes.gll import gll
from groundswell.seismology.formats.shaking_maps import open_surface
from groundswell.solvers.dgwave.boundaries.layers import sponge_damping
from groundswell.solvers.dgwave.discretisation import discretise
from groundswell.solvers.dgwave.mesh import forest
from groundswell.solvers.dgwave.recording.lattice import surface_axes

pytestmark = pytest.mark.each_value

X, Y, Z = (100, 300, 150, 250), (400, 200, 200), (50, 50, 200, 300)
GRADED = {"grid__spacing": [list(X), list(Y), list(Z)]}
SOFT, ROCK = {"vp": 1800, "vs": 900, "rho": 2000}, {"vp": 3000, "vs": 1700, "rho": 2500}
LAYERS = {"kind": "layered", "layers": [{"top": 0, **SOFT}, {"top": 100, **ROCK}]}
SMALL_Q = {"qp": 60, "qs": 30}


def layers(*tops: float, **more: Any) -> dict[str, Any]:
    stack = [
        {"top": top, **(SOFT if n % 2 == 0 else ROCK), **more} for n, top in enumerate((0, *tops))
    ]
    return {"kind": "layered", "layers": stack}


# --- elements -------------------------------------------------------------------------------------


def test_elements_have_the_edges_of_the_case() -> None:
    found = setup(**GRADED, boundary={"sides": "rigid", "bottom": "rigid"})
    assert found.geometry.grid.region == found.geometry.grid.cells == (4, 3, 4)
    assert found.geometry.extent == (800, 800, 600) and found.geometry.count == 4 * 3 * 4
    lower, upper = found.geometry.forest.boxes()
    assert {*map(tuple, (upper - lower).tolist())} == {*itertools.product(X, Y, Z)}
    assert found.geometry.smallest == 50 and found.geometry.longest.max() == 400


def test_layers_continue_the_outermost_elements() -> None:
    found = setup(**GRADED, boundary__top="sponge")
    assert [(line[0], line[-1]) for line in found.geometry.forest.edges] == [
        (-200, 1300),
        (-800, 1200),
        (-100, 1200),
    ]
    metres = setup(**GRADED, boundary={"top": "pml", "width": "450 m"})
    assert metres.geometry.grid.before == (5, 2, 9) and metres.geometry.grid.after == (2, 3, 2)


def test_check_tells_the_range_of_edges() -> None:
    found = gs.check(build(**GRADED, boundary={"sides": "rigid", "bottom": "rigid"}))
    assert found["spacing"] == (X, Y, Z)
    texts = [quantity.text for quantity in quantities_of(setup(**GRADED))]
    assert any("elements of 100 to 300 x 200 to 400 x 50 to 300 m" in text for text in texts)
    assert "4 x 3 x 4 elements, 0.8 x 0.8 x 0.6 km" in texts


@pytest.mark.parametrize(
    ("layers", "place", "axes"),
    [
        ({}, "y = 200 m, depth = 200 m resolve", " along y there"),
        ({"boundary": {"width": 2}}, "y = 200 m, depth = 25 m resolve", " along y there"),
        ({"medium": LAYERS}, "y = 200 m, depth = 25 m resolve", " along y there"),
        ({"grid__spacing": [200, 200, [50, 50, 500]]}, "depth = 350 m resolve", " along z there"),
        ({"grid__spacing": [400, 400, 50]}, "the elements resolve", " along x and y,"),
    ],
)
def test_warnings_name_the_coarsest_elements(layers: Any, place: str, axes: str) -> None:
    """An element in the middle of those with the longest edge, in the region."""
    closed = {"sides": "rigid", "bottom": "rigid"}
    changes = {**GRADED, "boundary": closed, **layers, "time__duration": 3}
    found = setup(**changes, source__0__time_function={"kind": "gaussian", "sigma": "0.15 s"})
    [warning] = warnings_of(found)
    assert place in warning and axes in warning


def test_unstable_steps_are_those_of_the_limiting_element() -> None:
    """The smallest elements are in soft ground; larger ones in rock limit the step."""
    medium = {"kind": "layered", "layers": [{"top": 0, **SOFT}, {"top": 200, **ROCK}]}
    changes = {"grid__spacing": [200, 200, [100, 100, 120, 280]], "medium": medium}
    closed = {"boundary": {"sides": "rigid", "bottom": "rigid"}}
    with pytest.raises(
        InputError,
        match=r"because of the element around .* \(200 x 200 x 120 m, waves of 3,000 m/s\)",
    ):
        setup(**changes, **closed, time__step=0.05)


# --- media ----------------------------------------------------------------------------------------


def test_layers_that_end_on_faces_fill_their_elements() -> None:
    found = setup(**GRADED, medium=layers(50, 100, 300))
    middle = np.mean(found.geometry.forest.boxes(), axis=0)[:, 2]
    hard = np.searchsorted([0, 50, 100, 300], middle) % 2 == 0
    expected = np.where(hard, ROCK["vp"], SOFT["vp"])
    assert np.array_equal(
        found.materials.elements.average(np.arange(found.geometry.count)).vp, expected
    )


@pytest.mark.parametrize("level", [0, 1, 2])
def test_averages_are_those_of_the_smaller_elements_in_an_element(level: int) -> None:
    """Of boxes with even elements of 50 m over 2^level, whose averages are taken again."""
    medium = layers(31, 333.3, 480)
    graded, even = (
        setup(medium=medium, grid__spacing=h, refinement={"frequency": 1, "levels": level or 1})
        for h in (GRADED["grid__spacing"], [200, 200, 50])
    )
    rows, fine = (
        graded.materials.elements.medium.media[level],
        even.materials.elements.medium.media[level],
    )
    faces = np.cumsum([0, *np.repeat(Z, 2**level)]) // 50
    for k, (first, end) in enumerate(itertools.pairwise(faces)):
        found = rows.plane(k)
        inside = [fine.plane(n) for n in range(first, end)]
        rho = np.mean([each.rho for each in inside])
        modulus = 1 / np.mean([1 / (each.rho * each.vp**2) for each in inside])
        assert np.allclose(found.rho, rho) and np.allclose(found.rho * found.vp**2, modulus)


def test_nodes_have_the_medium_of_their_depths() -> None:
    ends = [{"top": 0, **SOFT}, {"top": 600, **ROCK}]
    gradient = {"kind": "layered", "interpolation": "linear", "layers": ends}
    method = {"degree": 3, "material": "node"}
    found = setup(**GRADED, medium=gradient, method=method, refinement={"frequency": 3})
    lower, upper = found.geometry.forest.boxes()
    inside = np.repeat((gll(3).points + 1) / 2, 16)
    depths = np.clip(lower[:, 2:] + (upper - lower)[:, 2:] * inside, 0, 600)
    nodes = found.materials.unrelaxed_nodes(np.arange(found.geometry.count))
    assert found.geometry.count > found.geometry.grid.count
    assert np.allclose(nodes.vp, SOFT["vp"] + depths / 600 * (ROCK["vp"] - SOFT["vp"]), rtol=1e-6)


def test_arrays_have_a_value_for_each_element() -> None:
    vp = 2000 + np.arange(48.0).reshape(4, 3, 4)
    medium = {"kind": "arrays", "vp": vp, "vs": vp / 2, "rho": 0 * vp + 2000}
    found = setup(**GRADED, medium=medium, boundary={"sides": "rigid", "bottom": "rigid"})
    x, y, z = found.geometry.cells(np.arange(found.geometry.count)).T
    assert np.array_equal(
        found.materials.elements.average(np.arange(found.geometry.count)).vp, vp[z, y, x]
    )
    assert found.materials.elements.rigidity(250.0, 450.0, 120.0) == 2000 * (vp[2, 1, 1] / 2) ** 2


def test_models_in_python_may_be_graded() -> None:
    vp = 2000 + np.arange(48.0).reshape(4, 3, 4)
    model = gs.dgwave.Model(vp, vp / 2, rho=2000.0, spacing=[X, 800 / 3, Z])
    assert model.size == (800, 800, 600)
    sources = [EXPLOSION | {"x": 450, "y": 450, "depth": 400}]
    case = gs.dgwave.build_case(model, sources, duration=0.1)
    assert case.grid.spacing == (X, 800 / 3, Z)
    for wrong in ([X, 200, [[1], [2]]], [X, 200], [X, 200, [50, -50, 200, 300]], "x"):
        with pytest.raises(InputError, match="give the cells' edge in m, or three edges"):
            gs.dgwave.Model(vp, vp / 2, rho=2000.0, spacing=wrong)  # type: ignore[arg-type]
    with pytest.raises(CaseError, match=r"4, 3, 4.* cells .*, but the region .4, 3, 3"):
        few = gs.dgwave.Model(vp, vp / 2, rho=2000.0, spacing=[X, 200, (100, 200, 300)])
        gs.dgwave.build_case(few, sources, duration=0.1)
    with pytest.raises(CaseError, match=r"grid.spacing\[0\].*must be one edge for all cells"):
        gs.earthquake.build_case(model, sources, duration=0.1)


def test_soft_ground_is_that_of_even_elements() -> None:
    """The resonance of soft rows; the surface layer of 100 m has two of 50 m, or four of 25 m."""
    graded, even = (
        setup(medium=LAYERS, grid__spacing=h).absorption.soft_ground
        for h in (GRADED["grid__spacing"], [200, 200, 25])
    )
    assert graded is not None and even is not None
    assert graded.resonance == pytest.approx(np.pi / 2 * SOFT["vp"] / 100, rel=1e-12)
    assert graded.resonance == pytest.approx(even.resonance, rel=1e-12)


def test_soft_ground_of_halved_elements_is_that_of_small_ones() -> None:
    """A soft layer of half an element, which only halved elements resolve."""
    halved = setup(medium=LAYERS, grid__spacing=[200, 200, 200], refinement={"frequency": 3})
    even = setup(medium=LAYERS, grid__spacing=[200, 200, 50])
    found, wanted = halved.absorption.soft_ground, even.absorption.soft_ground
    assert found is not None and wanted is not None
    assert found.resonance == pytest.approx(wanted.resonance, rel=1e-12)
    assert found.contrast.max() == pytest.approx(wanted.contrast.max(), rel=1e-12)
    everyone = halved.partition.elements(1, 0)
    ratio = found.damping_ratio(halved.geometry.grid.before[0] * halved.degree)
    faces = np.append(0.0, np.cumsum(found.spacing))
    tops = halved.geometry.forest.boxes(everyone.numbers)[0][:, 2]
    in_soft_row = tops < faces[1:][ratio > 0].max() - 1e-6
    rows, decay = halved.absorption.damping(everyone)
    assert rows is not None and (decay >= 0).all() and (decay > 0).any(axis=1).all()
    beside = (halved.absorption.matched_layers(everyone).sets[:, :2] >= 0).any(axis=1)
    assert np.array_equal(rows >= 0, beside & in_soft_row)


# --- refinement -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("free", "part"),
    [(1e4, "wave speeds of 32 x 32 x 24"), (2.1e5, "2,560 elements of the next level")],
)
def test_refinement_that_needs_too_much_memory(
    monkeypatch: pytest.MonkeyPatch, free: float, part: str
) -> None:
    monkeypatch.setattr(forest, "host_memory", lambda: (int(free), 2 * int(free)))
    with pytest.raises(InputError, match=rf"\[refinement\]: .*{part}.* would take .* fewer levels"):
        setup(refinement={"frequency": 99, "levels": 3})


@pytest.mark.parametrize("changes", [{}, {"refinement": {"frequency": 3, "levels": 1}}])
def test_grid_that_needs_too_much_memory(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    """Elements need more than the wave speeds of their halves do."""
    monkeypatch.setattr(forest, "host_memory", lambda: (200_000, 400_000))
    with pytest.raises(InputError, match=r"\[grid\]: 320 elements would take 205 kB"):
        setup(**changes)


def test_grid_that_needs_far_too_much_memory() -> None:
    size = ["2400 km", "2400 km", "2000 km"]  # of elements of 0.1 m, more than any host can hold
    message = r"\[grid\]: [\d,]+ elements would take .* are free; give a larger spacing"
    with pytest.raises(InputError, match=message):
        setup(grid={"size": size, "spacing": "0.1 m"})


def test_halved_elements_have_halves_of_their_own_edges() -> None:
    found = setup(**GRADED, medium=LAYERS, refinement={"frequency": 3, "levels": 2})
    lower, upper = found.geometry.forest.boxes()
    levels = found.geometry.forest.levels
    assert {*levels.tolist()} == {0, 1, 2}
    cells, first = found.geometry.cells(np.arange(found.geometry.count)), found.geometry.grid.before
    for axis, edges in enumerate((X, Y, Z)):
        own = np.take(edges, cells[:, axis] - first[axis], mode="clip")
        assert np.array_equal((upper - lower)[:, axis], own / 2.0**levels)
    hard = (lower + upper)[:, 2] / 2 > 100
    material = found.materials.elements.average(np.arange(found.geometry.count))
    assert np.array_equal(material.vs, np.where(hard, ROCK["vs"], SOFT["vs"]))
    # Elements whose waves are too short are halved as often as allowed, and no others.
    points = 2 * material.vs / 3 / (upper - lower).max(axis=1)
    assert (points[levels < 2] > 5 * 0.9).all() or (levels[points < 5] == 2).all()


# --- layers around the region ---------------------------------------------------------------------


def test_damping_follows_the_thickness_of_each_layer() -> None:
    """Outer profiles of sponges, in the order of axes and ends."""
    found = setup(**GRADED, boundary={"sides": "sponge", "bottom": "sponge", "width": 2})
    _, profiles = sponge_damping(
        found.geometry, found.partition.elements(1, 0), found.materials.statistics.vp_max
    )
    ends = [2 * edge for edges in (X, Y) for edge in (edges[0], edges[-1])] + [2 * Z[-1]]
    outer = [profiles[2 * n : 2 * n + 2].max() for n in range(5)]
    assert np.allclose(outer, 9 * 3000 / np.array(ends))
    assert found.absorption.decay == pytest.approx(
        outer[0] + outer[3] + outer[4]
    )  # the thinnest of each axis


def test_matched_layers_follow_their_thickness() -> None:
    found = setup(**GRADED, boundary__width=3)
    layers = discretise(found, found.partition.elements(1, 0)).layers
    assert layers is not None
    damping = layers.profiles[:, 0].reshape(5, 3, -1).max(axis=(1, 2))
    ends = np.array([X[0], X[-1], Y[0], Y[-1], Z[-1]])
    assert np.allclose(damping / damping[0], ends[0] / ends, rtol=1e-12)
    assert damping.max() <= found.absorption.decay


@pytest.mark.parametrize("kind", ["sponge", "pml"])
def test_strong_damping_is_stable(kind: str) -> None:
    boundary = {"sides": kind, "bottom": kind, "width": 1}
    with gs.Simulation(build(**GRADED, boundary=boundary, time__duration=9)) as simulation:
        solver: Any = simulation.solver
        noise = np.random.default_rng(2).standard_normal(solver.propagation.u.shape)
        solver.propagation.u[...] = noise
        solver.prepare()
        for _ in range(400):
            solver.step()
        assert np.abs(solver.propagation.u[:, 6:]).max() < np.abs(noise).max() / 2


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
