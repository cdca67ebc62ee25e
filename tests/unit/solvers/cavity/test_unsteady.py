"""Flow in time: each part of a step against NumPy, and solutions that are known exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray
from cavity_scheme import NAMES, rates, step

import groundswell as gs
from groundswell.backends import open_backend
from groundswell.errors import CaseError, Interrupted, NotFinite
from groundswell.grids.cartesian import Part
from groundswell.report.pictures import draw_pictures
from groundswell.simulation import checkpoint
from groundswell.solvers.cavity.case import FIELDS, CavityCase
from groundswell.solvers.cavity.film import label_of
from groundswell.solvers.cavity.middle_plane import plane_attributes
from groundswell.solvers.cavity.recording import recording
from groundswell.solvers.cavity.setup import prepare
from groundswell.solvers.cavity.unsteady import UnsteadyCavity
from groundswell.solvers.cavity.verification.tall import mean_period, persistence

MIRROR = {"kind": "symmetry"}
FLAT = {"south": MIRROR, "north": MIRROR}
AIR = {"kind": "rayleigh", "rayleigh": 1e5}


def make(points: tuple[int, int, int] = (9, 7, 8), **changes: Any) -> CavityCase:
    time = {"duration": 1.0, "step": 0.05, "tolerance": 1e-10} | changes.pop("time", {})
    return CavityCase(
        fluid=changes.pop("fluid", AIR), grid={"points": list(points)}, time=time, **changes
    )


def solver_of(case: CavityCase) -> UnsteadyCavity:
    return UnsteadyCavity(prepare(case), open_backend("cpu"))


def flow_of(solver: UnsteadyCavity) -> dict[str, np.ndarray]:
    return {name: solver.snapshot(name) for name in NAMES}


def random_flow(solver: UnsteadyCavity, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.normal(size=solver.setup.finest.grid.shape) for name in NAMES}


# --- the parts of a step --------------------------------------------------------------------------


def test_a_sweep_is_what_the_equations_say() -> None:
    """With a step in time so short that it limits the steps of the iteration."""
    solver = solver_of(make(time={"levels": 1, "courant": 0.2, "step": 1e-3}))
    level, grid = solver.levels[0], solver.setup.finest
    flow, more = (random_flow(solver, seed) for seed in (1, 2))
    solver.fill(flow)
    for name in NAMES:
        solver.backend.assign(level.forcing[name].interior, more[name])
    for launch in level.steps(1):
        launch()
    expected = step(grid, flow, forcing=more)
    assert grid.inertia == 1500.0
    for name in NAMES:
        assert np.abs(solver.snapshot(name) - expected[name]).max() < 1e-11, name


def test_a_step_begins_with_the_earlier_flow_as_a_forcing() -> None:
    solver = solver_of(make(time={"levels": 1}))
    now, before = (random_flow(solver, seed) for seed in (3, 4))
    solver.fill(now)
    level, dt = solver.levels[0], solver.setup.dt
    for name in NAMES:
        solver.backend.assign(solver.before[name].interior, before[name])
    for launch in solver._begin_step():
        launch()
    for name in NAMES:
        found = [f[name].interior for f in (level.copies[0], solver.before, level.forcing)]
        known = 0 * now[name] if name == "p" else (4 * now[name] - before[name]) / (2 * dt)
        wanted = (2 * now[name] - before[name], now[name], known)
        for values, expected in zip(found, wanted, strict=True):
            np.testing.assert_allclose(values, expected, atol=1e-12)


def test_steps_meet_the_backward_differences() -> None:
    """Of the second step on, to the tolerance; the first is implicit over two thirds of it."""
    solver = solver_of(make((9, 1, 11), walls=FLAT))
    grid, dt, flows = solver.setup.finest, solver.setup.dt, [flow_of(solver)]
    for _ in range(3):
        solver.step()
        flows.append(flow_of(solver))
    for name in "uwT":
        start, first, second, third = (flow[name] for flow in flows)
        change = rates(grid, flows[3])[0][name] + grid.inertia * third
        assert np.abs(change - (3 * third - 4 * second + first) / (2 * dt)).max() < 1e-8
        within = {n: (2 * flows[1][n] + flows[0][n]) / 3 for n in NAMES} | {"p": flows[1]["p"]}
        change = rates(grid, within)[0][name] + grid.inertia * within[name]
        assert np.abs(change - (first - start) / dt).max() < 1e-8
    assert solver.history.read()[:, 2].max() <= 1e-10


def test_a_checkpoint_is_the_whole_state(tmp_path: Path) -> None:
    machine, case = open_backend("cpu"), make(time={"tolerance": 1e-6})
    first, second = (UnsteadyCavity(prepare(case), machine) for _ in range(2))
    for _ in range(2):
        first.step()
    progress = checkpoint.Progress(2, "digest", {})
    checkpoint.save(tmp_path / "checkpoint.h5", machine, first.state(), progress)
    checkpoint.restore(tmp_path / "checkpoint.h5", machine, second.state(), progress)
    for solver in (first, second):
        solver.prepare()
        solver.step()
    assert all((first.snapshot(name) == second.snapshot(name)).all() for name in NAMES)
    assert (first.history.read() == second.history.read()).all() and first.history.steps == 3


# --- exact solutions ------------------------------------------------------------------------------


def test_heat_diffuses_as_the_series_says() -> None:
    """Through fluid at rest, between walls that suddenly have other temperatures than the fluid.

    T = 1/2 - x - sum over n of sin(2 pi n x) exp(-4 pi^2 n^2 alpha t) / (pi n).
    """
    fluid = {"kind": "properties", "viscosity": 1.0, "diffusivity": 1.0, "expansion": 1e-9}
    time = {"duration": 0.02, "step": 5e-4, "tolerance": 1e-6}
    solver = solver_of(make((63, 1, 5), fluid=fluid, walls=FLAT, time=time))
    for _ in range(solver.setup.steps):
        solver.step()
    x, n = solver.setup.finest.interior_positions(0), np.arange(1, 50)[:, None]
    terms = np.sin(2 * np.pi * n * x) * np.exp(-4 * np.pi**2 * n**2 * 0.02) / (np.pi * n)
    assert np.abs(solver.snapshot("T")[2, 0] - (0.5 - x - terms.sum(0))).max() < 1e-3
    hot, cold = solver.history.read()[-1, 3:]
    gradient = 1 + 2 * np.exp(-4 * np.pi**2 * n**2 * 0.02).sum()
    assert hot == pytest.approx(gradient, rel=2e-3) and cold == pytest.approx(hot, rel=1e-9)


# --- runs -----------------------------------------------------------------------------------------


def test_a_run_records_in_time() -> None:
    where = {"kind": "points", "positions": [[0.25, 0.5, 0.5]]}
    record = {"fields": ["T"], "where": where, "interval": 0.1, "file": "point.nc"}
    time = {"duration": 0.5, "step": 0.05}
    result = gs.cavity.simulate(
        (9, 1, 9), AIR, FLAT, time=time, output={"record": [record], "film": True}
    )
    history = result.history
    np.testing.assert_allclose(history["time"], np.arange(1, 11) * 0.05)
    assert history["nusselt_hot"][-1] == pytest.approx(result.heat["nusselt"], rel=1e-8)
    assert result.heat["time"] == 0.5 and result.heat["steps_above_tolerance"] == 0
    assert sorted(result.records) == ["film.nc", "point.nc"]
    point = result.records["point.nc"]
    np.testing.assert_allclose(point["time"], np.arange(5) * 0.1)
    assert {point[name].units for name in ("time", "x", "z", "T")} == {"1"}  # dimensionless
    assert {result.fields[name].units for name in ("x", "z", "T")} == {"1"}
    assert {history["time"].units, result.profiles["x"]["x"].units} == {"1"}
    assert {"history.png", "flow.png"} < {path.name for path in draw_pictures(result.folder, fail)}
    assert list(result.folder.glob("film.*")) != [result.folder / "film.nc"]


@pytest.mark.parametrize(("kind", "label"), [("properties", "x (m)"), ("rayleigh", "x")])
def test_labels_have_units_only_where_values_have(kind: str, label: str) -> None:
    air = {"kind": kind, "viscosity": 1e-5, "diffusivity": 1e-5, "expansion": 1e-3}
    case = CavityCase(fluid=AIR if kind == "rayleigh" else air, grid={"points": [9, 9, 9]})
    grid = prepare(case).finest
    assert label_of(plane_attributes(grid), "x", "m") == label
    found = recording(grid, Part.whole(grid.grid))
    assert found.domain.unit == ("m" if kind == "properties" else "1")  # type: ignore[attr-defined]


def test_a_stopped_run_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    where = {"kind": "points", "positions": [[0.25, 0.5, 0.5]]}
    record = {"fields": ["T"], "where": where, "every": 1, "file": "point.nc"}
    walls = FLAT | {"bottom": {"kind": "robin", "h": 2.0, "ambient": "0.3 * x"}}
    case = gs.cavity.build_case(
        (9, 1, 9),
        AIR,
        walls,
        time={"duration": 0.4, "step": 0.05},
        output={"record": [record]},
    )
    whole = gs.run(case, folder=tmp_path / "whole")
    with pytest.raises(Interrupted):
        gs.run(case, folder=tmp_path / "parts", callbacks=[gs.every(3, lambda live: live.stop())])
    parts = gs.run(case, folder=tmp_path / "parts", resume=True)
    assert parts.summary["resumed_at"] == 3
    for name in FIELDS:
        assert whole.fields[name].values.tobytes() == parts.fields[name].values.tobytes()
    for name in ("history.csv", "heat.json"):
        assert (whole.folder / name).read_bytes() == (parts.folder / name).read_bytes()
    points = [
        xarray.load_dataset(r.folder / "point.nc", engine="h5netcdf", decode_times=False)
        for r in (whole, parts)
    ]
    assert points[0].equals(points[1]) and points[0].sizes["time"] == 8


def fail(text: str) -> None:
    raise AssertionError(text)


def test_a_film_is_for_flow_in_time() -> None:
    with pytest.raises(CaseError, match="is for flow in time"):
        CavityCase(fluid=AIR, grid={"points": [9, 9, 9]}, output={"film": True})


def test_the_period_of_an_oscillation() -> None:
    times = 0.1 * np.arange(400)
    values = 4.6 + 0.001 * times + 0.01 * np.sin(2 * np.pi * times / 3.4)
    assert mean_period(times, values) == (pytest.approx(3.4, rel=3e-3), 11)
    assert persistence(times, values) == pytest.approx(1, abs=0.05)
    decaying = 0.01 * np.exp(-0.05 * times) * np.sin(2 * np.pi * times / 3.4)
    assert persistence(times, decaying) == pytest.approx(np.exp(-1), rel=0.1)


def test_a_steady_flow_stays_as_it_is() -> None:
    walls = FLAT | {
        "west": {"kind": "fixed", "temperature": 300.5},
        "east": {"kind": "fixed", "temperature": 299.5},
    }
    steady = gs.cavity.simulate((15, 1, 15), AIR, walls, time={"tolerance": 1e-9})
    time = {"duration": 1.0, "step": 0.2, "tolerance": 1e-7}
    later = gs.cavity.simulate((15, 1, 15), AIR, walls, time=time, start=steady.fields)
    for name in "uwT":
        np.testing.assert_allclose(later.fields[name], steady.fields[name], atol=1e-5)
    assert later.history["nusselt_hot"].values == pytest.approx(steady.heat["nusselt"], abs=1e-4)


def test_steps_that_miss_the_tolerance_are_reported() -> None:
    solver = solver_of(make((9, 1, 9), walls=FLAT, time={"steps": 1, "tolerance": 1e-13}))
    solver.step()
    assert "1 of 1 steps in time ended above the tolerance, 1e-13" in solver.warnings[0]


def test_an_iteration_that_diverges_ends_the_run() -> None:
    solver = solver_of(make((9, 1, 9), walls=FLAT, time={"courant": 40.0}))
    with pytest.raises(NotFinite, match=r"at step 1.*set time\.courant to 1, not 40"):
        solver.step()


@pytest.mark.parametrize(
    ("time", "text"),
    [
        ({"duration": 1.0}, "time.step: is required with a duration"),
        ({"step": 0.1, "local": False}, "needs local = true and scheme"),
        ({"duration": 1.0, "step": 2.0}, "must be at most the duration, 1 s"),
        ({"duration": 1.0, "step": 1e-9}, "must be at least duration / 10,000,000"),
        ({"duration": 1.0, "step": 0.1, "local": False}, "needs local = true"),
        ({"duration": -1.0, "step": 0.1}, "time.duration"),
        ({"duration": 1.0, "step": 0.1, "check_every": 2}, "is for steady flow"),
    ],
)
def test_times_that_do_not_fit_are_named(time: dict[str, Any], text: str) -> None:
    with pytest.raises(CaseError, match=text.replace(".", r"\.")):
        CavityCase(fluid=AIR, grid={"points": [9, 9, 9]}, time=time)


def test_intervals_are_for_flow_in_time() -> None:
    record = {"fields": ["T"], "where": {"kind": "all"}, "interval": 0.1, "file": "all.nc"}
    with pytest.raises(CaseError, match="whose steps have no common length"):
        CavityCase(fluid=AIR, grid={"points": [9, 9, 9]}, output={"record": [record], "film": True})


def test_dimensionless_times_and_speeds_have_no_unit() -> None:
    record = {"fields": ["T"], "where": {"kind": "all"}, "interval": "1 s", "file": "all.nc"}
    content = {
        "fluid": {"kind": "rayleigh", "rayleigh": 1e4},
        "grid": {"points": [9, 9, 9]},
        "time": {"duration": "20 s", "step": 0.1},
        "walls": {"top": {"kind": "adiabatic", "velocity": [0, "1 m/s", 0]}},
        "output": {"record": [record]},
    }
    with pytest.raises(CaseError, match=r"^the arguments cannot be used:") as caught:
        CavityCase(**content)
    found = {problem.key: problem.allowed for problem in caught.value.problems}
    assert [*found] == ["time.duration", "output.record[0].interval", "walls.top.velocity"]
    assert all("has no unit with fluid.kind" in text for text in found.values())


@pytest.mark.parametrize(
    ("wall", "key"),
    [
        ({"kind": "flux", "flux": "20 W/m^2"}, "flux"),
        ({"kind": "robin", "h": "5 W/m^2/K", "ambient": 0.2}, "h"),
    ],
)
def test_dimensionless_walls_have_no_units_of_heat(wall: dict[str, Any], key: str) -> None:
    content: dict[str, Any] = {
        "fluid": {"kind": "rayleigh", "rayleigh": 1e4},
        "grid": {"points": [9, 9, 9]},
    }
    with pytest.raises(CaseError, match=f"walls.top.{key}.*divided by the conductivity"):
        CavityCase(**content, walls={"top": wall})
    by_position = {"kind": "flux", "flux": "0.3 * sin(x)"}
    assert CavityCase(**content, walls={"top": by_position}).walls.top.kind == "flux"
