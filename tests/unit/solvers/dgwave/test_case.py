"""Cases of DG waves: what is said of each mistake, what set-up chooses, and its warnings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checked import cost, decomposed, warnings_of
from dgwave_cases import DROP, EXPLOSION, WATER, build, setup
from variants import long_variants

import groundswell as gs
from groundswell.errors import CaseError, InputError, RunFailed
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.meshes.octree_faces import FaceKind, find_faces
from groundswell.seismology.time_steps import StableSteps
from groundswell.solvers.dgwave.boundaries.layers import add_profiles, sponge_damping
from groundswell.solvers.dgwave.discretisation import discretise
from groundswell.solvers.dgwave.element_costs import (
    CURVED_MORTAR,
    MATCHED_LAYER,
    MORTAR,
)
from groundswell.solvers.dgwave.equations import ACOUSTIC, ELASTIC
from groundswell.solvers.dgwave.recordable import RECORDABLE
from groundswell.solvers.dgwave.recording.volumes import final_field_bytes
from groundswell.spectral_elements.recording import ElementDomain
from groundswell.time_integration.step_limits import dg_step

pytestmark = pytest.mark.each_value

EXAMPLE = Path(__file__).parents[4] / "examples" / "dgwave" / "marine_survey.toml"

# --- mistakes -------------------------------------------------------------------------------------

LAYERS = {
    "kind": "layered",
    "layers": [{"top": 0, **{k: WATER[k] for k in ("vp", "vs", "rho")}},
               {"top": 400, "vp": 3000, "vs": 1700, "rho": 2500}],
}  # fmt: skip
BOX = {"kind": "box", "low": [0, 0, 0], "high": [1, 1, 1]}
LINE = {"kind": "line", "start": [0, 0, 0], "end": [800, 0, 0], "points": 3}


def record(**changes: Any) -> dict[str, Any]:
    entry = {"fields": ["vx"], "where": LINE, "what": "raw", "file": "a.nc"}
    return {"output__record": [entry | changes]}


MISTAKES = [
    ({"method__degree": 0}, "method.degree", "must be at least 1"),
    ({"method__degree": 16}, "method.degree", "must be at most 15"),
    ({"method__degree": 2.5}, "method.degree", "must be a whole number"),
    ({"method__degree": True}, "method.degree", "must be a whole number"),
    ({"method__flux": "upwind"}, "method.flux", 'must be "riemann", "central", or a number from 0'),
    ({"method__flux": 1.1}, "method.flux", "or a number from 0 (central) to 1 (Riemann)"),
    ({"method__flux": -0.1}, "method.flux", "or a number from 0 (central) to 1 (Riemann)"),
    ({"method__flux": True}, "method.flux", 'must be "riemann"'),
    ({"method__flux": [1]}, "method.flux", 'must be "riemann"'),
    ({"method__flux": float("nan")}, "method.flux", 'must be "riemann"'),
    ({"method__equations": "fluid"}, "method.equations", 'must be "auto", "acoustic" or "elastic"'),
    ({"boundary__top": "periodic"}, "boundary.top", 'must be "pml", "sponge", "absorbing", "fre'),
    ({"boundary__sides": "damping"}, "boundary.sides", '"rigid" or "periodic"'),
    ({"boundary__width": 0}, "boundary.width", "at least 1"),
    ({"time__duration": DROP}, "time.duration", "is required"),
    ({"time__step": "1 s"}, "time.step", "at most the duration, 0.1 s"),
    ({"source": []}, "source", "must not be empty"),
    ({"grid__size": [850, 800, 600]}, "grid.size[0]", "nearest: 800 m or 1000 m"),
    ({"grid__spacing": [200, 200, [100, 200]]}, "grid.spacing[2]", "must add up to grid.size[2]"),
    ({"grid__spacing": [200, [], 200]}, "grid.spacing[1]", "must not be empty"),
    ({"grid__spacing": [200, 200, [700, -100]]}, "grid.spacing[2][1]", "greater than 0"),
    ({"grid__spacing": [200, 200, [300, [300]]]}, "grid.spacing[2][1]", "is not a number; give"),
    ({"grid__spacing": [200, [800]]}, "grid.spacing[2]", "the list is too short"),
    ({"output__seismograms": {"interval": 1}}, "output.seismograms.interval", "at most"),
    (record(where=BOX), "output.record[0].where.kind", "points, line or plane"),
    (record(where={"kind": "all"}), "output.record[0].where.kind", "points, line or plane"),
    (record(fields=["T"]), "output.record[0].fields[0]", "must be p, vx"),
    (record(file="seismograms.h5"), "output.record[0].file", ""),
    ({"run__processes": [2, 1, 1]}, "run.processes", "is not for this solver; leave it out"),
    ({"run__lossy": "zfp16"}, "run.lossy", "is not for this solver; leave it out"),
    ({"run__codec": "zfp16"}, "run.codec", 'auto, none or mpc; to send fewer bits, set'),
    ({"run__codec": "zfp"}, "run.codec", "must be auto, none or mpc; to send fewer bits, set"),
    ({"run__narrow": "float32"}, "run.narrow", 'must be "bfloat16" where precision = "single"'),
    ({"attenuation": {"model": "constant"}}, "attenuation.model", "needs qp and qs in [medium]"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "key", "allowed"), MISTAKES)
def test_each_mistake_is_one_problem(changes: dict[str, Any], key: str, allowed: str) -> None:
    with pytest.raises(CaseError) as caught:
        build(**changes)
    [problem] = caught.value.problems
    assert problem.key == key and allowed in problem.allowed


MISFITS = [
    (
        {"medium": WATER},
        r"source\[0\] lies in a fluid, but its .* not isotropic \(the first .* 310 m\); use",
    ),
    (
        {"medium": WATER, "method__equations": "elastic"},
        "lies in a fluid, but its moment tensor is n",
    ),
    ({"medium": LAYERS}, "lies in a fluid, but its moment"),
    (
        {"method__equations": "acoustic"},
        'equations = "acoustic", but parts of the medium are solid',
    ),
    ({"time__step": 0.05}, r"time.step = 0.05 s is unstable: the limit is 0.00"),
    ({"time__step": 0.005, "output__seismograms": {"interval": 0.007}}, "not a whole number of st"),
    ({"source__0__x": 900}, r"source\[0\]\.x = 900: lies outside the region"),
]


@pytest.mark.parametrize(("changes", "message"), MISFITS)
def test_what_does_not_fit_is_told(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        setup(**changes)


# A soft upper half, in which elements are halved.
SOFT = {"top": 0, "vp": 1500, "vs": 500, "rho": 2000}
ROCK = {"top": 400, "vp": 3000, "vs": 1700, "rho": 2000}
HALVED = {"refinement": {"frequency": 1.5, "levels": 1}}
CENTRAL = {"medium": {"kind": "layered", "layers": [SOFT, ROCK]}, "method__flux": "central"}
DISSIPATIVE: list[dict[str, Any]] = [
    CENTRAL,
    CENTRAL | HALVED | {"method__flux": 0.5},
    CENTRAL | HALVED | {"boundary__sides": "sponge", "boundary__bottom": "sponge"},
]


def test_waves_must_not_grow_in_matched_layers_beside_halved_elements() -> None:
    message = "method.flux = central: with matched layers and halved elements, waves"
    with pytest.raises(InputError, match=message):
        setup(**CENTRAL, **HALVED)
    for changes in DISSIPATIVE:
        setup(**changes)


def test_fields_of_other_equations_are_not_recorded(tmp_path: Path) -> None:
    acoustic = {"medium": WATER, "source": [EXPLOSION]}
    for changes, field in (({}, "p"), (acoustic, "sxx")):
        case = build(tmp_path, **changes, **record(fields=[field]))
        with pytest.raises(InputError, match=f'equations have no "{field}"; use '):
            gs.run(case, folder=tmp_path / "results")


BESIDE = {"kind": "points", "positions": [[100, 100, 50], [900, 2000, 50]]}
ABOVE = {"kind": "plane", "normal": "z", "at": -100, "points": [3, 3]}
SLOPE = {"kind": "formula", "elevation": "0.05 * x"}


@pytest.mark.parametrize("where", [BESIDE, ABOVE, BESIDE | {"positions": [[750, 400, -60]]}])
@pytest.mark.parametrize("changes", [{}, {"topography": SLOPE}, {"refinement": {"frequency": 9}}])
def test_records_outside_the_mesh_are_refused_before_a_run(where: Any, changes: Any) -> None:
    """With the message of the run's own elements, also where the check uses coarser ones."""
    bare = setup(**changes).geometry
    elements = np.arange(bare.count)
    domain = ElementDomain(SerialCommunicator(), bare.hexahedra, bare.degree, elements)
    section = build(**record(where=where)).output.record[0]
    with pytest.raises(InputError, match="lie outside the mesh, the first") as expected:
        domain.select(section.where, [RECORDABLE["vx"]])
    with pytest.raises(InputError) as found:
        setup(**changes, **record(where=where))
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize(
    ("x", "accepted"), [*long_variants([(1200 + 3e-7, True)]), (1200.00001, False)]
)
def test_checks_and_runs_accept_the_same_records(tmp_path: Path, x: float, accepted: bool) -> None:
    """Although elements of the run are smaller than the brick that checks use."""
    where = {"kind": "points", "positions": [[x, 400, 300]]}
    case = build(tmp_path, refinement={"frequency": 9}, **record(where=where))
    if accepted:
        gs.check(case)
        gs.run(case, folder=tmp_path / "results")
        return
    message = r"first is \(1200.00001, 400, 300\) m; the mesh has elements within x -400 to 1200,"
    with pytest.raises(InputError, match=message):
        gs.check(case)
    with pytest.raises(InputError, match=message):
        gs.run(case, folder=tmp_path / "results")


def test_records_in_layers_and_below_hills_are_accepted() -> None:
    places = [[-350, 1150, 1000], [-400, -400, 0], [800, 800, 600]]
    setup(**record(where={"kind": "points", "positions": places}))
    places = [[750, 400, -37], [0, 400, 0], [400, -400, 599]]
    setup(topography=SLOPE, **record(where={"kind": "points", "positions": places}))
    with pytest.raises(InputError, match="begins at step 1000, but the run has"):
        setup(**record(**{"from": 1000}))


def test_more_ranks_than_elements_are_refused() -> None:
    few = setup(boundary__sides="periodic", boundary__bottom="rigid")
    assert decomposed(few, 48).ranks == 48
    with pytest.raises(InputError, match="48 elements cannot be divided among 49 ranks; use at"):
        decomposed(few, 49)


def test_profiles_along_all_axes_add_up() -> None:
    """Equal sums are stored once, and none for elements outside of layers."""
    profiles = np.random.default_rng(1).uniform(0, 1, (3, 3))
    rows = np.array([[0, -1, 2], [-1, -1, -1], [-1, 1, 0], [0, -1, 2]], np.int32)
    found, sums = add_profiles(rows, profiles)
    assert found.dtype == np.int32 and found[1] == -1 and found[0] == found[3] and len(sums) == 2
    x, y, z = profiles
    first, other = sums[found[[0, 2]]].reshape(2, 3, 3, 3)
    assert np.array_equal(first, np.broadcast_to(x + z[:, None, None], (3, 3, 3)))
    assert np.array_equal(other, np.broadcast_to(y[:, None] + x[:, None, None], (3, 3, 3)))
    none, empty = add_profiles(rows[1:2], profiles)
    assert none.tolist() == [-1] and empty.shape == (0, 27)


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
