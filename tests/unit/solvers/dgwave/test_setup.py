"""DG waves: what set-up chooses, its warnings, and how runs go wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import cost, decomposed, warnings_of
from dgwave_cases import EXPLOSION, WATER, build, setup

import groundswell as gs
from groundswell.errors import RunFailed
from groundswell.meshes.octree_faces import FaceKind, find_faces
from groundswell.seismology.time_steps import StableSteps
from groundswell.solvers.dgwave.boundaries.layers import sponge_damping
from groundswell.solvers.dgwave.discretisation import discretise
from groundswell.solvers.dgwave.equations import ACOUSTIC, ELASTIC
from groundswell.solvers.dgwave.partition import CURVED_MORTAR, MATCHED_LAYER, MORTAR
from groundswell.solvers.dgwave.recording.volumes import final_field_bytes
from groundswell.time_integration.step_limits import dg_step

pytestmark = pytest.mark.each_value


EXAMPLE = Path(__file__).parents[4] / "examples" / "dgwave" / "marine_survey.toml"


# --- mistakes -------------------------------------------------------------------------------------

LAYERS = {
    "kind": "layered",
    "layers": [{"top": 0, **{k: WATER[k] for k in ("vp", "vs", "rho")}},
               {"top": 400, "vp": 3000, "vs": 1700, "rho": 2500}],
}  # fmt: skip


LINE = {"kind": "line", "start": [0, 0, 0], "end": [800, 0, 0], "points": 3}


# --- what set-up chooses --------------------------------------------------------------------------


@pytest.mark.parametrize(("flux", "found"), [("riemann", 1), ("central", 0), (0.25, 0.25), (1, 1)])
def test_fluxes(flux: Any, found: float) -> None:
    assert build(method__flux=flux).method.flux == found


def test_equations_follow_the_medium() -> None:
    sources = {"source": [EXPLOSION]}
    assert setup().equations is ELASTIC
    assert setup(medium=WATER, **sources).equations is ACOUSTIC
    assert setup(medium=LAYERS, **sources).equations is ELASTIC
    assert setup(medium=WATER, method__equations="elastic", **sources).equations is ELASTIC


def test_shear_below_the_sea_is_allowed() -> None:
    assert setup(medium=LAYERS, source__0__depth=500).equations is ELASTIC


def test_layers_lie_outside_the_region() -> None:
    found = setup(boundary__top="sponge")
    assert found.geometry.grid.cells == (8, 8, 7) and found.geometry.grid.region == (4, 4, 3)
    assert found.geometry.forest.count == 8 * 8 * 7
    assert [line[0] for line in found.geometry.forest.edges] == [-400, -400, -400]
    assert found.geometry.extent == (800, 800, 600)
    reflecting = setup(boundary__sides="absorbing", boundary__bottom="rigid")
    assert reflecting.geometry.grid.cells == (4, 4, 3)


def test_damping_rises_into_the_layers() -> None:
    found = setup(boundary__sides="sponge", boundary__bottom="sponge")
    everyone = found.partition.elements(1, 0)
    rows, profiles = sponge_damping(found.geometry, everyone, found.materials.statistics.vp_max)
    cells = found.geometry.cells(everyone.numbers)
    assert profiles.shape == (2 * 5, 3)
    assert (rows[:, 2] >= 0).tolist() == (cells[:, 2] >= 3).tolist()
    assert (rows[:, 0] >= 0).tolist() == ((cells[:, 0] < 2) | (cells[:, 0] > 5)).tolist()
    for axis in range(3):
        for cell in range(found.geometry.grid.cells[axis]):
            assert len(np.unique(rows[cells[:, axis] == cell, axis])) == 1  # for a whole layer
    west, east = profiles[:2], profiles[2:4]
    assert west[0, -1] == west.min() == east[0, 0] == 0 and (np.diff(east.ravel()) >= 0).all()
    assert np.allclose(west[:, ::-1], east) and east[-1, -1] == east.max() > 0


def test_the_time_step_divides_the_sampling_interval() -> None:
    open_sides = {"boundary": {"sides": "absorbing", "bottom": "absorbing"}}
    found = setup(output__seismograms={"interval": 0.02}, **open_sides)
    limit = dg_step((200, 200, 200), 3000, 2)
    assert found.step_limit.seconds == limit and found.dt <= limit
    assert found.dt * found.time_step.stride == pytest.approx(0.02, rel=1e-12)
    assert found.steps == round(0.1 / found.dt)
    longer = setup(method__flux="central", **open_sides)
    assert longer.step_limit.seconds == dg_step((200, 200, 200), 3000, 2, 0.0) > limit


@pytest.mark.most(2)
@pytest.mark.parametrize(("degree", "width"), [(1, 1), (1, 6), (3, 1), (5, 1)])
@pytest.mark.parametrize("flux", ["riemann", "central"])
def test_strong_damping_is_stable(degree: int, width: int, flux: Any) -> None:
    """Layers that are thin need a shorter step; noise decays in them."""
    size = {"grid__size": [200, 200, 200], "source__0__x": 50, "source__0__y": 50}
    place = {"source__0__depth": 50, "receiver": []}
    method = {"method": {"degree": degree, "flux": flux}, "boundary__width": width}
    sponge = {"boundary__sides": "sponge", "boundary__bottom": "sponge"}
    with gs.Simulation(build(**size, **place, **method, **sponge, time__duration=9)) as simulation:
        solver: Any = simulation.solver
        noise = np.random.default_rng(2).standard_normal(solver.propagation.u.shape)
        solver.propagation.u[...] = noise
        solver.prepare()
        for _ in range(300):
            solver.step()
        assert np.abs(solver.propagation.u[:, 6:]).max() < np.abs(noise).max() / 2


def test_updates_and_variables_of_layers() -> None:
    found = setup()
    layers = discretise(found, found.partition.elements(1, 0)).layers
    assert (
        layers is not None
        and layers.total == (layers.sets >= 0).sum() == found.absorption.layer_axes.sum() > 0
    )
    assert cost(found).updates_per_step == found.geometry.count * 9 * 27 * 5


@pytest.mark.parametrize("sides", ["pml", "sponge", "absorbing"])
def test_a_range_of_each_ranks_elements_absorbs_waves(sides: str) -> None:
    """Exactly the elements outside the region, wherever the ranks are cut."""
    found = setup(boundary={"sides": sides, "bottom": sides, "width": 2})
    lower, upper = found.geometry.forest.boxes()
    middles = (lower + upper) / 2
    outside = ((middles < 0) | (middles > found.geometry.extent)).any(axis=1)
    assert outside.any() == (sides != "absorbing")
    for rank in range(5):
        problem = discretise(found, found.partition.elements(5, rank))
        expected = np.flatnonzero(outside[problem.elements.numbers])
        assert [*problem.absorbing] == expected.tolist()
        assert problem.has_absorption == outside.any()


def test_what_elements_cost() -> None:
    """Elements in a corner are in three layers; one with four finer faces has four mortars."""
    case = {"medium": LAYERS, "source": [EXPLOSION], "refinement": {"frequency": 3.2, "levels": 1}}
    found = setup(**case)
    lower, upper = found.geometry.forest.boxes()
    middles = (lower + upper) / 2
    in_layers = ((middles < [0, 0, -np.inf]) | (middles > [800, 800, 600])).sum(axis=1)
    finer = (find_faces(found.geometry.forest).kinds == FaceKind.FINER).sum(axis=1)
    assert set(in_layers) == {0, 1, 2, 3} and finer.max() > 0
    assert np.allclose(found.partition.costs, 1 + MATCHED_LAYER * in_layers + MORTAR * finer)
    flat = setup(**case, topography={"kind": "formula", "elevation": "0"})
    expected = 1 + MATCHED_LAYER * in_layers + CURVED_MORTAR * finer
    assert np.allclose(flat.partition.costs, expected)


def test_the_elements_of_the_latest_rank_are_kept() -> None:
    """Those of each rank are its own, whichever were asked for before."""
    partition = setup().partition
    kept = partition.elements(2, 1)
    assert partition.elements(2, 1) is kept and kept.rank == 1
    other = partition.elements(2, 0)
    assert other is not kept and other.rank == 0
    assert partition.elements(2, 1).numbers.tolist() == kept.numbers.tolist()


def test_ranks_share_the_work_evenly() -> None:
    found = setup()
    starts, costs = found.partition.starts(7), found.partition.costs
    assert (
        starts[0] == 0 and starts[-1] == found.geometry.forest.count and np.ptp(np.diff(starts)) > 1
    )
    shares = np.add.reduceat(costs, starts[:-1])
    assert np.abs(shares - costs.sum() / 7).max() <= costs.max()
    summary = decomposed(found, 7)
    assert (summary.traffic == summary.traffic.T).all() and summary.traffic.sum() > 0
    rounded = decomposed(setup(run={"narrow": "bfloat16"}), 7)
    assert np.array_equal(2 * rounded.traffic, summary.traffic)


# --- warnings -------------------------------------------------------------------------------------


def test_layers_that_are_wider_than_usual() -> None:
    slow = {"kind": "gaussian", "sigma": "1 s"}
    more = {"source__0__time_function": slow, "time__duration": 12}
    [warning] = warnings_of(setup(boundary__width=12, **more))
    assert (
        "12 elements, so absorbing layers hold 11,712 of 11,760 elements; a width of 4" in warning
    )
    sponge = {"sides": "sponge", "bottom": "sponge", "width": 10}
    assert warnings_of(setup(boundary=sponge, **more)) == []


def test_sources_that_elements_do_not_resolve() -> None:
    sharp = {"kind": "gaussian", "sigma": "0.01 s"}
    [warning] = warnings_of(setup(source__0__time_function=sharp, time__duration=1))
    assert "the elements resolve 3.4 Hz" in warning and "raise method.degree" in warning
    slow = {"kind": "gaussian", "sigma": "0.3 s"}
    assert warnings_of(setup(source__0__time_function=slow, time__duration=3)) == []


def test_steps_that_are_far_too_short() -> None:
    slow = {"kind": "gaussian", "sigma": "0.3 s"}
    changes = {"source__0__time_function": slow, "time__duration": 3, "time__step": 0.002}
    [warning] = warnings_of(setup(**changes))
    assert "far shorter than the stable" in warning


def test_sources_near_the_surface_of_the_sea_need_thin_elements() -> None:
    """Those in the ground do not, and nothing is cancelled without a free surface."""

    def warnings(*depths: float, **changes: Any) -> list[str]:
        sources = [{**EXPLOSION, "depth": depth} for depth in depths]
        found = warnings_of(setup(source=sources, **{"medium": WATER} | changes))
        return [text for text in found if "the free surface" in text]

    [warning] = warnings(15)
    assert warning.startswith(
        "source[0] lies in water 15 m below the free surface, but its element"
    )
    assert "is 200 m high" in warning and warning.endswith("at most 149 m high at the surface")
    [warning] = warnings(15, 12)
    assert "source[1] lies in water 12 m" in warning and "concerns 2 sources" in warning
    [warning] = warnings(0)
    assert "where the pressure is always 0; move it down" in warning
    thin = {"grid__spacing": [200, 200, [150, 250, 200]]}
    assert not warnings(20) and not warnings(15, **thin)
    assert not warnings(15, boundary__top="pml") and not warnings(15, medium={**WATER, "vs": 700})


def test_the_example_can_run_as_it_is() -> None:
    found = gs.check(EXAMPLE)
    assert found["warnings"] == [] and found["problems"] == []
    assert found["unknowns"] * found["steps"] < 2e9  # half a minute on two cores


# --- runs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [2, 3, 4])
def test_a_value_that_is_not_finite_ends_the_run(degree: int) -> None:
    """The message names the element and the time, wherever padding follows the fields."""
    with gs.Simulation(build(method__degree=degree)) as simulation:
        solver: Any = simulation.solver
        leaf = int(solver.elements.numbers[17])
        solver.propagation.u[17, 3, 5] = np.nan
        lower, upper = solver.setup.geometry.forest.boxes(np.array([leaf]))
        x, y, z = ((lower + upper) / 2)[0]
        solver.enqueue_finite_check()
        place = f"the element around x = {x:.6g} m, y = {y:.6g} m, depth = {z:.6g} m"
        with pytest.raises(RunFailed, match=r"^stress is not finite at") as caught:
            solver.check_health(3)
        assert place in str(caught.value) and "(step 3)" in str(caught.value)


def test_an_exploding_run_ends_with_a_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = build(tmp_path, time__duration=20, time__step=0.04, method__degree=2)
    monkeypatch.setattr(StableSteps, "choose", lambda _, given, interval: given)
    with pytest.raises(RunFailed, match="the run is unstable, or its input is invalid"):
        gs.run(case, folder=tmp_path / "results")


def test_acoustic_and_elastic_equations_of_water_agree(tmp_path: Path) -> None:
    """The same explosion in water by both sets of equations."""
    found = []
    for equations in ("acoustic", "elastic"):
        changes = {"medium": WATER, "source": [EXPLOSION], "method__equations": equations}
        case = build(tmp_path, **changes, time__duration=0.4, run__precision="double")
        found.append(gs.run(case, folder=tmp_path / equations).seismograms.values)
    largest = np.abs(found[0]).max()
    assert largest > 0 and np.abs(found[0] - found[1]).max() < 1e-12 * largest


def test_all_outputs(tmp_path: Path) -> None:
    """Seismograms in three formats, records, and final fields."""
    plane = {"kind": "plane", "normal": "z", "at": 0, "points": [5, 5]}
    formats = {"interval": 0.01, "formats": ["hdf5", "sac", "mseed"]}
    records = [
        {"fields": ["vx", "szz"], "where": LINE, "what": ["raw", "max"], "file": "line.nc"},
        {"fields": ["vz"], "where": plane, "what": ["rms"], "file": "plane.nc"},
    ]
    changes = {"output__record": records, "output__seismograms": formats}
    outputs = {"output__final_fields": True}
    case = build(tmp_path, **changes, **outputs)
    result = gs.run(case, folder=tmp_path / "results")
    files = json.loads((tmp_path / "results" / "summary.json").read_text())["files"]
    assert {"seismograms.h5", "seismograms.mseed", "line.nc", "plane.nc", "fields.vtkhdf"} < {
        *files
    }
    assert np.isfinite(result.seismograms).all() and float(np.abs(result.seismograms).max()) > 0
    size = (tmp_path / "results" / "fields.vtkhdf").stat().st_size
    found = setup(**changes, **outputs)
    fields = len(found.equations.fields)
    assert 0.95 * size < final_field_bytes(found.geometry, fields) < size
    line = result.records["line.nc"]
    assert {"vx", "szz"} <= set(line)
