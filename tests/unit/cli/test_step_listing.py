"""The launches of a step of each solver: names, order, arrays, and how commands show them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import plugin
import pytest
from ranks import COMMAND, run_on_ranks
from small_cases import write_small_case
from ultrasound_cases import build

import groundswell as gs
from groundswell.backends import Listing
from groundswell.cli import main
from groundswell.errors import InputError

pytestmark = pytest.mark.timeout(240)

ONE_GRID: dict[str, Any] = {"time": {"tolerance": 1e-7, "steps": 100, "levels": 1}}


def names_of(listing: Listing) -> list[str]:
    assert {entry.stream for entry in listing} <= {"main"}, "a CPU has one stream"
    assert [entry.number for entry in listing] == list(range(1, len(listing) + 1))
    return [entry.name for entry in listing]


def written(listing: Listing, name: str) -> list[str]:
    entry = next(each for each in listing if each.name == name)
    return [each.label for each in entry.arrays if each.access == "writes"]


@pytest.fixture(scope="module")
def earthquake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_case(tmp_path_factory.mktemp("earthquake"), "earthquake")


def test_a_step_of_the_earthquake_solver(earthquake: Path) -> None:
    with gs.Simulation(earthquake) as simulation:
        listing = simulation.launches
        simulation.advance(2)
    assert listing.of == "1 step"
    records = ["record_points", "record_surface", "record_box", "record_box", "record_peaks"]
    update = ["update_velocity", "mirror_velocity", "inject_moments", "update_stress"]
    assert names_of(listing) == ["mirror_stress", *records, *update]
    assert written(listing, "update_velocity") == [
        *("vx", "vy", "vz", "layers/velocity/x", "layers/velocity/y", "layers/velocity/z"),
        "clock",
    ]
    velocity = next(each for each in listing if each.name == "update_velocity")
    assert {"sxx", "syz", "rho"} <= {each.label for each in velocity.arrays}
    assert velocity.extent == "20 x 20 x 16 cells"


def test_a_step_of_the_cavity_solver(tmp_path: Path) -> None:
    with gs.Simulation(write_small_case(tmp_path, "cavity", **ONE_GRID)) as simulation:
        listing = simulation.launches
    assert listing.of == "1 step"
    assert names_of(listing) == ["record_box", "advance_clock", "advance_first", *["advance"] * 2]
    assert written(listing, "advance_first") == [f"copy1.{field}" for field in "puvwT"]
    last = [each.label for each in listing.entries[-1].arrays if each.access == "writes"]
    assert last == list("puvwT")


def test_a_multigrid_cycle_of_the_cavity_solver(tmp_path: Path) -> None:
    with gs.Simulation(write_small_case(tmp_path, "cavity")) as simulation:
        assert simulation.launches.of == "1 cycle on grid 2"
        solver: Any = simulation.solver
        solver.next_stage()
        listing = simulation.launches
    assert listing.of == "1 cycle on grid 1 to 2"
    assert {"advance", "find_rates", "interpolate"} <= set(names_of(listing))
    assert written(listing, "advance_first")[0] == "grid1.copy1.p"


def test_a_step_of_the_ultrasound_solver() -> None:
    with gs.Simulation(build()) as simulation:
        listing = simulation.launches
        fused = "forward_x" in names_of(listing)
    assert listing.of == "1 step" and names_of(listing)[-1] == "next_step"
    assert fused or "forward_transform" in names_of(listing)
    arrays = {each.label for entry in listing for each in entry.arrays}
    assert {"p", "ux", "uy", "rhox", "rhoy"} <= arrays


def test_a_step_of_the_dg_wave_solver(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = write_small_case(tmp_path, "dgwave")
    with gs.Simulation(case) as simulation:
        listing = simulation.launches
    found = names_of(listing)
    waves = [name for name in found if name in ("slide", "advance", "count_step")]
    assert waves == [*["slide", "advance"] * 5, "count_step"] and found[-1] == "count_step"
    recorders = ["record_box", "record_peaks", *["record_points"] * 4]
    assert sorted(found[: found.index("slide")]) == recorders
    arrays = {each.label for entry in listing for each in entry.arrays}
    assert {"fields", "clock"} <= arrays
    assert main(["info", "--step", str(case)]) == 0
    assert "count_step" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize("preconditioner", ["jacobi", "multigrid"])
def test_an_iteration_of_the_poisson_solver(tmp_path: Path, preconditioner: str) -> None:
    method = {"preconditioner": preconditioner}
    with gs.Simulation(write_small_case(tmp_path, "poisson", method=method)) as simulation:
        listing = simulation.launches
    found = names_of(listing)
    assert "apply_elements" in found and "find_step" in found
    if preconditioner == "multigrid":
        assert listing.of == "1 iteration" and found[-1] == "advance_iterate"
        assert found.index("CoarseSolver._run") > found.index("restrict_elements")
    else:
        assert listing.of == f"{found.count('find_step')} iterations"


@pytest.fixture
def acoustics(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "metadata").mkdir()
    with plugin.available(tmp_path / "metadata"):
        yield write_small_case(tmp_path, plugin.NAME)


def test_a_solver_of_another_package_inherits_the_list(acoustics: Path) -> None:
    with gs.Simulation(acoustics) as simulation:
        listing = simulation.launches
    assert names_of(listing)[:2] == ["record_box", "advance_clock"]
    assert "p" in {each.label for entry in listing for each in entry.arrays}


def test_a_solver_without_a_list_is_refused(
    earthquake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with gs.Simulation(earthquake) as simulation, monkeypatch.context() as patch:
        patch.setattr(simulation, "_opened", replace(simulation._opened, solver=object()))
        with pytest.raises(InputError, match='solver "earthquake" cannot list the launches'):
            _ = simulation.launches
    with pytest.raises(InputError, match="closed"):
        _ = simulation.launches


def test_info_prints_a_step(earthquake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--step", str(earthquake)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "launches of 1 step:" and lines[1].split()[:3] == ["#", "stream", "launch"]
    assert len(lines) == 12 and "update_stress" in lines[-1]
    assert main(["info", "--step", str(earthquake), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["solver"], found["of"]) == ("earthquake", "1 step")
    last = found["launches"][-1]
    assert (last["number"], last["stream"], last["kind"]) == (10, "main", "kernel")
    assert last["arrays"][0] == {
        **{"name": "sxx", "parameter": "sxx", "access": "writes"},
        **{"shape": [16, 20, 20], "dtype": "float32", "nbytes": 25600},
    }
    assert main(["info", "--step", "absent.toml"]) == 2


def test_ranks_print_the_step_of_the_first(earthquake: Path) -> None:
    done = run_on_ranks(2, COMMAND, "info", "--step", earthquake, timeout=200)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("launches of 1 step:") == 1
    assert "update_velocity" in done.stdout and "_call" not in done.stdout
