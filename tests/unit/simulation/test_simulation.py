"""A case as a live object: the same steps as a run, in any portions, its fields in sight."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import groundswell as gs
from groundswell.errors import InputError, Interrupted
from groundswell.simulation import checkpoint

pytestmark = pytest.mark.timeout(240)
Write = Callable[..., Path]

PROGRAM = """
import sys
import numpy as np
import groundswell as gs
case, folder = sys.argv[1:]
with gs.Simulation(case) as simulation:
    simulation.advance(17)
    simulation.checkpoint(f"{folder}/state.h5")
    simulation.advance(3)
    part = {name: field.shape for name, field in simulation.fields.items()}
    whole = simulation.gather("vx")
    if whole is not None:
        np.save(f"{folder}/ranks.npy", whole)
        assert part["vx"] != whole.shape
"""


@pytest.fixture(scope="module")
def case(write_case: Write, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_case(tmp_path_factory.mktemp("case"), time={"duration": "0.4 s"})  # 40 steps


@pytest.fixture(scope="module")
def expected(case: Path) -> dict[str, np.ndarray]:
    """All fields after 20 steps."""
    with gs.Simulation(case) as simulation:
        assert simulation.advance(20) == 20
        return {name: field.copy() for name, field in simulation.fields.items()}


def assert_same(simulation: gs.Simulation, expected: dict[str, np.ndarray]) -> None:
    assert simulation.fields.keys() == expected.keys() and np.abs(expected["vx"]).max() > 0
    for name, field in simulation.fields.items():
        assert field.tobytes() == expected[name].tobytes(), name


def test_steps_in_any_portions_are_the_same(case: Path, expected: dict[str, np.ndarray]) -> None:
    with gs.Simulation(case) as simulation:
        assert (simulation.step, simulation.time) == (0, 0.0)
        assert [simulation.advance(n) for n in (1, 0, 13, 6)] == [1, 0, 13, 6]
        assert_same(simulation, expected)
        assert simulation.step == 20 and simulation.time == pytest.approx(0.2)
        assert simulation.status == "t = 0.2 of 0.4 s"
        assert simulation.advance() == 20 and simulation.advance(5) == 0
    assert not (case.parent / "results").exists()


def test_fields_are_views_of_the_region(case: Path) -> None:
    """Without ghosts and layers; other libraries take them without copying."""
    with gs.Simulation(case) as simulation:
        vx = simulation.fields["vx"]
        assert vx.shape == (24, 24, 24) and vx.base is not None
        other = np.from_dlpack(vx)
        assert np.shares_memory(vx, other) and np.shares_memory(vx, simulation.fields["vx"])
        simulation.advance(20)
        assert np.abs(other).max() > 0
        assert np.array_equal(simulation.gather("vx"), vx)
        with pytest.raises(InputError, match='no field is called "ux"; there are vx, vy'):
            simulation.gather("ux")
        with pytest.raises(TypeError):
            simulation.fields["vx"] = other  # type: ignore[index]


def test_a_checkpoint_restarts_to_the_same_bits(
    case: Path, expected: dict[str, np.ndarray], tmp_path: Path
) -> None:
    path = tmp_path / "deep" / "state.h5"
    with gs.Simulation(case) as simulation:
        simulation.advance(7)
        simulation.checkpoint(path)
    with gs.Simulation(case, restart=path) as simulation:
        assert simulation.step == 7 and simulation.advance(13) == 13
        assert_same(simulation, expected)
    with pytest.raises(InputError, match="belongs to another case"):
        gs.Simulation(case, precision="double", restart=path)
    with pytest.raises(InputError, match="there is no checkpoint"):
        gs.Simulation(case, restart=tmp_path / "absent.h5")


def test_checkpoints_leave_files_of_similar_names_alone(case: Path, tmp_path: Path) -> None:
    others = [tmp_path / name for name in ("checkpoint-9-1.h5", "state-of-art.h5", "state-1.h5")]
    for path in others:
        path.touch()
    with gs.Simulation(case) as simulation:
        simulation.checkpoint(tmp_path / "state.h5")
    assert sorted(tmp_path.iterdir()) == sorted([*others, tmp_path / "state.h5"])


def test_a_run_does_not_resume_what_has_no_results(case: Path, tmp_path: Path) -> None:
    with gs.Simulation(case) as simulation:
        simulation.advance(3)
        simulation.checkpoint(tmp_path / checkpoint.NAME)
    with pytest.raises(InputError, match=r"Simulation\.checkpoint.*no results to continue"):
        gs.run(case, folder=tmp_path, resume=True)


def test_ranks_share_a_simulation(
    on_ranks: Callable[..., str], case: Path, expected: dict[str, np.ndarray], tmp_path: Path
) -> None:
    """To the same bits; and one rank goes on from the checkpoint of three."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    on_ranks(3, program, case, tmp_path)
    assert np.load(tmp_path / "ranks.npy").tobytes() == expected["vx"].tobytes()
    with gs.Simulation(case, restart=tmp_path / "state.h5") as simulation:
        assert simulation.step == 17 and simulation.advance(3) == 3
        assert_same(simulation, expected)


def test_a_signal_stops_it_where_it_can_go_on(case: Path, expected: dict[str, np.ndarray]) -> None:
    """Also in a loop of short calls, and in the last steps of one."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with gs.Simulation(case) as simulation:
            step, calls = simulation.solver.step, []  # type: ignore[attr-defined]

            def interrupted() -> None:
                step()
                calls.append(1)
                if len(calls) == 5:
                    signal.raise_signal(signal.SIGINT)

            simulation.solver.step = interrupted  # type: ignore[attr-defined]
            with pytest.raises(Interrupted, match="stopped by SIGINT after step"):
                while simulation.step < 40:
                    simulation.advance(1)
            assert simulation.step == 5
            assert simulation.advance(15) == 15
            assert_same(simulation, expected)
    finally:
        signal.signal(signal.SIGINT, before)


def test_it_runs_in_a_thread(case: Path, expected: dict[str, np.ndarray]) -> None:
    """Which cannot handle signals."""
    with gs.Simulation(case) as simulation:
        thread = threading.Thread(target=simulation.advance, args=(20,))
        thread.start()
        thread.join()
        assert_same(simulation, expected)


@pytest.mark.parametrize("steps", [-1, 1.5, True, "3"])
def test_steps_that_are_no_number_are_refused(case: Path, steps: Any) -> None:
    with gs.Simulation(case) as simulation, pytest.raises(InputError, match="whole number"):
        simulation.advance(steps)


def test_a_closed_simulation_does_nothing(case: Path) -> None:
    with gs.Simulation(case) as simulation:
        pass
    simulation.close()
    for act in (simulation.advance, lambda: simulation.fields, lambda: simulation.gather("vx")):
        with pytest.raises(InputError, match="this simulation is closed"):
            act()


# --- other kinds of solvers -----------------------------------------------------------------------


FLAT = {"south": {"kind": "symmetry"}, "north": {"kind": "symmetry"}}


def test_steps_end_at_a_steady_state() -> None:
    """Where a run ends too, though they come in portions."""
    case = gs.cavity.build_case((13, 1, 13), {"kind": "rayleigh", "rayleigh": 1e3}, FLAT)
    result = gs.cavity.simulate((13, 1, 13), {"kind": "rayleigh", "rayleigh": 1e3}, FLAT)
    with gs.Simulation(case) as simulation:
        made = []
        while done := simulation.advance(130):
            made.append(done)
        assert sum(made) == simulation.step == result.summary["steps"] < simulation.setup.steps
        assert simulation.time is None and "residual" in simulation.status
        inside = result.fields["T"].values[1:-1, 1:-1, 1:-1]
        assert inside.tobytes() == np.ascontiguousarray(simulation.fields["T"]).tobytes()


def test_a_direct_solver_solves(tmp_path: Path) -> None:
    case = tmp_path / "case.toml"
    case.write_text(gs.poisson.info.read_template())
    with gs.Simulation(case) as simulation:
        for act in (lambda: simulation.advance(1), lambda: simulation.checkpoint("state.h5")):
            with pytest.raises(InputError, match=r'"poisson" makes no steps, .*; call solve\(\)'):
                act()
        simulation.solve()
        assert simulation.step == 1 and "iterations" in simulation.status
        assert np.abs(simulation.fields["u"]).max() > 0.5
    with pytest.raises(InputError, match="no restart"):
        gs.Simulation(case, restart=case)


def test_a_time_stepper_does_not_solve(case: Path) -> None:
    with (
        gs.Simulation(case) as simulation,
        pytest.raises(InputError, match=r'"earthquake" advances in steps; call advance\(\)'),
    ):
        simulation.solve()


@pytest.mark.gpu
def test_fields_on_a_gpu_are_arrays_there(gpu: Any, case: Path) -> None:
    cupy = pytest.importorskip("cupy")
    with gs.Simulation(case, backend="cuda") as simulation, gs.Simulation(case) as on_host:
        simulation.advance(20)
        on_host.advance(20)
        vx = simulation.fields["vx"]
        assert isinstance(vx, cupy.ndarray) and vx.__cuda_array_interface__["shape"] == vx.shape
        assert cupy.from_dlpack(vx).data.ptr == vx.data.ptr
        wanted = on_host.fields["vx"]
        assert np.abs(vx.get() - wanted).max() < 1e-4 * np.abs(wanted).max()


def test_a_notebook_shows_where_a_case_stands(case: Path) -> None:
    with gs.Simulation(case) as simulation:
        simulation.advance(20)
        shown = simulation._repr_html_()
        assert "<td>20 of 40</td>" in shown and "<td>0.2 s</td>" in shown
        assert f"<td>vx</td><td>{simulation.fields['vx'].shape} float32</td>" in shown
    assert "vx" not in simulation._repr_html_()
