"""DG waves below a surface that is not flat: positions, set-up, reciprocity, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import cost
from dgwave_cases import EXPLOSION, WATER, build, setup
from variants import long_variants

import groundswell as gs
from groundswell.errors import InputError
from groundswell.meshes.gll import gll
from groundswell.solvers.dgwave.mesh.curved import CurvedElements
from groundswell.spectral_elements.curl_form import jacobians
from groundswell.spectral_elements.vtkhdf import LagrangeElements

pytestmark = pytest.mark.each_value


HILLS = {"kind": "formula", "elevation": "50 + 60 * sin(x / 120) * cos(y / 140)"}
PERIODIC = {"kind": "formula", "elevation": "40 * sin(2 * pi * x / 800) * sin(2 * pi * y / 800)"}


def hills(x: Any, y: Any) -> Any:
    return 50 + 60 * np.sin(x / 120) * np.cos(y / 140)


MEAN = float(hills((np.arange(4000) + 0.5)[:, None] / 5, (np.arange(4000) + 0.5) / 5).mean())


def test_nodes_follow_the_surface() -> None:
    """To a flat bottom below the mean elevation; layers beside the region continue its edge."""
    found = setup(topography=HILLS, method__degree=5)
    assert found.geometry.surface.mean == pytest.approx(MEAN, abs=1e-4)
    x, y, z = (
        found.geometry.hexahedra.geometry_nodes(np.arange(found.geometry.forest.count))
        .reshape(-1, 3)
        .T
    )
    lower = np.isclose(z + found.geometry.surface.mean, 600, atol=1e-9)
    assert lower.sum() == (8 * 8) * 6**2 * 2 and z.max() == pytest.approx(1000 - MEAN)
    tops = z[np.isclose(z, -hills(np.clip(x, 0, 800), np.clip(y, 0, 800)))]
    assert tops.size >= 8 * 8 * 6**2 and z.min() == tops.min()


def test_depths_count_from_the_surface_of_the_elements() -> None:
    found = setup(topography=HILLS)
    assert found.geometry.surface is not None
    rng = np.random.default_rng(0)
    points = rng.uniform(0, [800, 800, 500], (40, 3))
    points[::4, 2] = 0
    places = found.geometry.place(points)
    heights = found.geometry.surface.height(*points[:, :2].T)
    assert (
        np.allclose(places[:, 2], points[:, 2] - heights) and (places[:, :2] == points[:, :2]).all()
    )
    assert 0 < np.abs(heights - hills(*points[:, :2].T)).max() < 2  # a polynomial on each element
    elements, inside = found.geometry.locate(points)
    n = gll(found.degree).interpolation
    for element, at, place in zip(elements, inside, places, strict=True):
        nodes = found.geometry.hexahedra.geometry_nodes([element])[0].reshape(3, 3, 3, 3)
        r, s, t = (n([a])[0] for a in at)
        assert np.allclose(np.einsum("k,j,i,kjix->x", t, s, r, nodes), place, atol=1e-9)


def test_volume() -> None:
    """Of the region's columns, from the Jacobian at the nodes."""
    found = setup(
        topography=HILLS, method__degree=4, boundary={"sides": "rigid", "bottom": "rigid"}
    )
    curved = CurvedElements(found.geometry.hexahedra, 4)
    metrics = curved.metrics(np.arange(found.geometry.forest.count), "float64")
    volume = (jacobians(metrics) * gll(4).cube_weights).sum()
    assert volume == pytest.approx(800**2 * 600, rel=1e-6)


def test_a_surface_at_depth_zero_is_flat(tmp_path: Path) -> None:
    """Kernels with metric terms find what those of bricks find."""
    flat = {"kind": "array", "elevation": [[0, 0], [0, 0]]}
    changes = {"time": {"duration": 0.6, "step": 0.005}, "run__precision": "double"}
    for medium in ({}, {"medium": WATER, "source": [EXPLOSION]}):
        found = [
            gs.run(build(tmp_path, **changes, **medium, **more), folder=tmp_path / name).seismograms
            for name, more in (
                (f"bricks{len(medium)}", {}),
                (f"{len(medium)}", {"topography": flat}),
            )
        ]
        largest = np.abs(found[0]).max()
        # In elements of degree 2, the loads of sources amplify rounding by 1e5.
        assert largest > 0 and np.abs(found[0] - found[1]).max() < 1e-8 * largest


@pytest.mark.full
def test_waves_are_reciprocal(tmp_path: Path) -> None:
    """A force at A along i moves B along j as one at B along j moves A along i.

    Forces are spread and receivers are not, so only waves that elements resolve are reciprocal.
    """
    places = ({"x": 210, "y": 330, "depth": 0}, {"x": 610, "y": 520, "depth": 240})
    pulse = {"kind": "gaussian", "sigma": "0.1 s"}
    motion = []
    for (here, there), axis in ((places, 0), (places[::-1], 2)):
        force = {"kind": "force", "force": list(1e9 * np.eye(3)[axis]), **here}
        case = build(
            tmp_path,
            topography=HILLS,
            source=[force | {"time_function": pulse}],
            receiver=[{"name": "B", **there}],
            time__duration=0.5,
            boundary={"sides": "absorbing", "bottom": "absorbing"},
            method__degree=7,
            run__precision="double",
        )
        series = gs.run(case, folder=tmp_path / str(axis)).seismograms.values[0]
        motion.append(series[2 - axis] * (-1 if axis == 0 else 1))  # upwards in the file
    assert np.abs(motion[0]).max() > 1e-6
    assert np.abs(motion[0] - motion[1]).max() < 6e-3 * np.abs(motion[0]).max()


# --- refined elements -----------------------------------------------------------------------------

SOFT = {"vp": 1500, "vs": 800, "rho": 2000}
ROCK = {"vp": 3000, "vs": 1700, "rho": 2500}
LAYERS = {"kind": "layered", "layers": [{"top": 0, **SOFT}, {"top": 200, **ROCK}]}
ENDS = ("top", "sides", "bottom")
HALVED = {"medium": LAYERS, "refinement": {"frequency": 1.5, "levels": 1}}


def test_refined_elements_follow_the_polynomials_of_the_grid() -> None:
    """Positions that are given by their depths are found in them; neighbours meet."""
    whole, found = setup(topography=HILLS), setup(topography=HILLS, **HALVED)
    assert (
        np.ptp(found.geometry.forest.levels) == 1
        and found.geometry.count > 1.3 * whole.geometry.count
    )
    rng = np.random.default_rng(0)
    points = rng.uniform(0, [800, 800, 500], (40, 3))
    points[::4, 2] = 0
    places = found.geometry.place(points)
    assert np.array_equal(places, whole.geometry.place(points))
    elements, inside = found.geometry.locate(points)
    assert {*found.geometry.forest.levels[elements]} == {0, 1}
    n = gll(found.degree).interpolation
    for element, at, place in zip(elements, inside, places, strict=True):
        nodes = found.geometry.hexahedra.geometry_nodes([element])[0].reshape(3, 3, 3, 3)
        r, s, t = (n([a])[0] for a in at)
        assert np.allclose(np.einsum("k,j,i,kjix->x", t, s, r, nodes), place, atol=1e-9)


def test_elements_that_are_stretched_are_halved_sooner() -> None:
    """Ground that rises by a fifth of the depth makes elements a tenth higher at one end."""
    case = {"medium": SOFT | {"kind": "homogeneous"}, "boundary": dict.fromkeys(ENDS, "rigid")}
    for rise, frequency, is_halved in ((0, 1.5, False), (120, 1.5, True), (120, 1.35, False)):
        slope = {"kind": "formula", "elevation": f"{rise} * x / 800"}
        section = {"frequency": frequency, "levels": 1}
        found = setup(topography=slope, refinement=section, **case)
        assert (found.geometry.count > found.geometry.grid.count) is is_halved
        assert found.materials.resolved_frequency > frequency


def test_refined_elements_below_a_flat_surface_are_bricks(tmp_path: Path) -> None:
    """Kernels with metric terms agree with those of bricks, also on mortars."""
    flat = {"kind": "array", "elevation": [[0, 0], [0, 0]]}
    steps = {"time": {"duration": 0.2, "step": 0.004}, "run__precision": "double"}
    found = [
        gs.run(build(tmp_path, **steps, **HALVED, **more), folder=tmp_path / name).seismograms
        for name, more in (("bricks", {}), ("curved", {"topography": flat}))
    ]
    assert np.abs(found[0]).max() > 0
    assert np.abs(found[0] - found[1]).max() < 1e-12 * np.abs(found[0]).max()


@pytest.mark.full
def test_halved_elements_resolve_waves_in_soft_hills(tmp_path: Path) -> None:
    """Almost as well as a grid of small elements everywhere, and much better than large ones."""
    pulse = {"kind": "gaussian", "sigma": "0.05 s"}
    explosion = {"kind": "explosion", "magnitude": 3, "x": 210, "y": 190, "depth": 290}
    grid = {"grid__size": [600, 400, 400], "boundary": {"sides": "rigid", "bottom": "rigid"}}
    motion = []
    for name, spacing, refinement in (
        ("large", 200, False),
        ("halved", 200, True),
        ("small", 100, 0),
    ):
        case = build(
            tmp_path,
            topography={"kind": "formula", "elevation": "30 * sin(x / 120) * cos(y / 140)"},
            medium=LAYERS,
            grid__spacing=spacing,
            method__degree=3,
            time={"duration": 0.4, "step": 0.002},
            source=[explosion | {"time_function": pulse}],
            receiver=[{"name": "A", "x": 430, "y": 310, "depth": 0}],
            output__shaking_map=False,
            **grid,
            **({"refinement": {"frequency": 2.5, "levels": 1}} if refinement else {}),
        )
        motion.append(gs.run(case, folder=tmp_path / name).seismograms.values)
    large, halved = (np.abs(m - motion[-1]).max() / np.abs(motion[-1]).max() for m in motion[:2])
    assert halved < 0.1 and halved < large / 3


def test_files_have_true_coordinates(tmp_path: Path) -> None:
    record = {
        "fields": ["vz"],
        "where": {"kind": "line", "start": [400, 0, 20], "end": [400, 800, 20], "points": 5},
        "what": "max",
        "file": "a.nc",
    }
    case = build(tmp_path, topography=HILLS, output__final_fields=True, output__record=[record])
    result = gs.run(case, folder=tmp_path / "r")
    elements = LagrangeElements.read(tmp_path / "r" / "fields.vtkhdf")
    z = elements.points[:, 2]
    assert z.min() == pytest.approx(-110, abs=2) and z.max() == pytest.approx(1000 - MEAN, abs=1)
    assert float(result.records["a.nc"]["vz_max"].max()) > 0


def test_periodic_sides(tmp_path: Path) -> None:
    sides = {"boundary": {"sides": "periodic", "width": 2}}
    found = setup(topography=PERIODIC, **sides)
    assert found.geometry.is_curved
    with pytest.raises(InputError, match=r"topography differs by .* at opposite sides"):
        setup(topography=HILLS, **sides)


def test_steps_and_frequencies_follow_the_elements() -> None:
    bricks, found = setup(), setup(topography=HILLS)
    assert found.step_limit.seconds < bricks.step_limit.seconds
    assert found.materials.resolved_frequency < bricks.materials.resolved_frequency
    assert cost(found).memory - cost(bricks).memory == found.geometry.forest.count * 9 * 27 * 4
    absorbing = {"sides": "absorbing", "bottom": "absorbing"}  # layers' own traffic is in neither
    for medium in ({}, {"medium": WATER, "source": [EXPLOSION]}):
        flat, curved = (
            cost(setup(method__degree=7, boundary=absorbing, **medium, **more)).bytes_per_update
            for more in ({}, {"topography": HILLS})
        )
        assert 1.2 < curved / flat < 1.5


# --- the datum, and surfaces that elements do not resolve -----------------------------------------

SHORT = {"time": {"duration": 0.2, "step": 0.004}, "run__precision": "double"}
GROUND = {"medium": LAYERS, "source__0__depth": 150, "method__degree": 3}
SENSORS = [
    {"name": "A", "x": 610, "y": 520, "depth": 0},
    {"name": "B", "x": 300, "y": 90, "depth": 400},
]


def motion(folder: Path, elevation: str) -> Any:
    topography = {"kind": "formula", "elevation": elevation}
    case = build(folder, topography=topography, receiver=SENSORS, **SHORT, **GROUND)
    return gs.run(case, folder=folder / elevation.replace(" ", "").replace("/", "")).seismograms


@pytest.mark.parametrize(
    ("relief", "height"), [*long_variants([("0", 1000)]), ("20 * sin(x / 90)", -3000)]
)
def test_ground_at_any_elevation_moves_alike(tmp_path: Path, relief: str, height: int) -> None:
    """Coordinates are larger by the elevation, and so are their rounding errors."""
    low, high = (motion(tmp_path, f"{relief} + {h}") for h in (0, height))
    assert np.abs(low).max() > 0
    assert np.abs(high - low).max() < 1e-9 * np.abs(low).max()
