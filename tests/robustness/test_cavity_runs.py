"""Runs of a cavity that are stopped, killed or unstable, and go on with more ranks or fewer."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray
from ranks import COMMAND, run_on_ranks
from variants import long_variants

import groundswell
from groundswell.errors import InputError
from groundswell.simulation import checkpoint

pytestmark = pytest.mark.timeout(240)

Start = Callable[..., subprocess.Popen[str]]
Command = Callable[..., subprocess.CompletedProcess[str]]
PROGRAM = Path(__file__).parents[1] / "support" / "interrupted_run_program.py"
FINAL = {"flow.nc", "heat.json", "nusselt.csv", "profiles.csv", "residuals.csv", "summary.json"}


def write_case(folder: Path, time: str = "", run: str = "", more: str = "") -> Path:
    """A flat cavity on three grids: some fifteen cycles, of which eight are on coarse grids."""
    path = folder / "case.toml"
    path.write_text(
        f"""
        solver = "cavity"
        fluid = {{ kind = "rayleigh", rayleigh = 1e5 }}
        grid = {{ points = [63, 1, 47] }}
        walls = {{ south = {{ kind = "symmetry" }}, north = {{ kind = "symmetry" }} }}
        [time]
        tolerance = 1e-7
        {time}
        [run]
        {run}
        {more}
        """
    )
    return path


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of a run that nothing has interrupted."""
    return groundswell.run(write_case(tmp_path_factory.mktemp("reference"))).folder


def assert_same_flow(folder: Path, reference: Path, ranks: int = 1) -> None:
    """To the bit; residuals are sums, whose rounding differs with the ranks."""
    assert {p.name for p in folder.iterdir()} - {"flow.png", "residuals.png"} == FINAL
    with (
        xarray.open_dataset(folder / "flow.nc", engine="h5netcdf") as a,
        xarray.open_dataset(reference / "flow.nc", engine="h5netcdf") as b,
    ):
        assert [name for name in b if a[name].values.tobytes() != b[name].values.tobytes()] == []
    tables = [
        np.loadtxt(p / "residuals.csv", delimiter=",", skiprows=1) for p in (folder, reference)
    ]
    assert np.allclose(*tables, rtol=1e-8) and tables[0].shape == tables[1].shape


STOPS = [(1, 2, 5)]
OTHER_STOPS = [
    (1, 1, 2),
    (2, 1, 5),
    (1, 3, 10),
    (1, 1, 5),
    (1, 1, 10),
    (2, 1, 2),
    (2, 1, 10),
    (1, 3, 2),
    (1, 3, 5),
]


@pytest.mark.parametrize(("wrote", "resumes", "at"), [*STOPS, *long_variants(OTHER_STOPS)])
def test_stopped_runs_continue_on_any_grid(
    tmp_path: Path, reference: Path, wrote: int, resumes: int, at: int
) -> None:
    """At step 2 the coarsest grid is in use, at 10 the finest."""
    case, folder = write_case(tmp_path), tmp_path / "results"
    asked = (PROGRAM, "SIGTERM", "0", str(at), "run", case, "-q", "--no-pictures")
    stopped = run_on_ranks(wrote, *asked)
    assert "stopped by SIGTERM" in stopped.stderr, stopped.stderr
    assert not FINAL & {p.name for p in folder.iterdir()}
    again = (PROGRAM, "SIGTERM", "-1", "0", "run", case, "--resume", "-q", "--no-pictures")
    done = run_on_ranks(resumes, *again)
    assert done.returncode == 0, done.stderr
    assert_same_flow(folder, reference)


def test_killed_runs_continue_from_the_last_checkpoint(
    tmp_path: Path, start: Start, reference: Path
) -> None:
    case = write_case(tmp_path, run="checkpoint = { steps = 3 }")
    folder = tmp_path / "results"
    process = start("run", case, "-q", "--no-pictures")
    until = time.monotonic() + 60
    while not (folder / checkpoint.NAME).exists() and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.001)
    process.kill()
    process.communicate(timeout=60)
    resumed = (folder / checkpoint.NAME).exists()  # it may have been faster than we
    groundswell.run(case, folder=folder, resume=resumed)
    assert_same_flow(folder, reference)


def test_a_run_that_ends_too_early_gives_the_finest_grid(tmp_path: Path, reference: Path) -> None:
    """What the coarse grids have found by then, and says that it is not steady."""
    result = groundswell.run(write_case(tmp_path, time="steps = 3"))
    [warning] = result.summary["warnings"]
    assert "is not steady" in warning and "raise time.steps (3)" in warning
    found = result.folder
    early, steady = (json.loads((f / "heat.json").read_text()) for f in (found, reference))
    assert not early["steady"] and steady["steady"] and steady["residual"] <= 1e-7
    assert early["nusselt"] == pytest.approx(steady["nusselt"], rel=0.3)
    with xarray.open_dataset(found / "flow.nc", engine="h5netcdf") as flow:
        assert float(abs(flow["w"]).max()) > 0.1


def test_single_precision_far_from_zero_degrees(tmp_path: Path) -> None:
    case = write_case(tmp_path, run='precision = "single"')
    fixed = '{{ kind = "fixed", temperature = {} }}'
    warm = f"walls = {{ west = {fixed.format(300.5)}, east = {fixed.format(299.5)}, "
    text = case.read_text().replace("walls = {", warm).replace("tolerance = 1e-7", "")
    case.write_text(text)
    found = groundswell.run(case)
    assert json.loads((found.folder / "heat.json").read_text())["steady"]
    assert found.summary["steps"] < 60


def test_an_unstable_run_says_so(tmp_path: Path, command: Command) -> None:
    case = write_case(tmp_path, time='scheme = "euler"\ncourant = 9.0')
    done = command("run", case, "-q")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "grows without bounds" in done.stderr and "set time.courant to 0.5, not 9" in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_tolerance_below_rounding_errors_causes_a_warning(tmp_path: Path) -> None:
    case = write_case(tmp_path)
    case.write_text(case.read_text().replace("tolerance = 1e-7", "tolerance = 1e-16"))
    [warning] = groundswell.check(case)["warnings"]
    assert "1e-16 is below the rounding errors of double precision" in warning


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ('scheme = "euler"\nlevels = 2', 'must be 1 unless local is true and scheme is "rk3"'),
        ("local = false\nlevels = 3", "must be 1 unless local is true"),
        ("levels = 0", "levels"),
        ('scheme = "rk5"', '"rk5"'),
    ],
)
def test_steps_that_cannot_be_made(tmp_path: Path, section: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        groundswell.run(write_case(tmp_path, time=section))
    assert not (tmp_path / "results").exists()


MANY = {"run": "processes = [8, 1, 1]"}  # of which some would have one point of the coarsest grid


def test_a_coarse_grid_does_not_limit_the_number_of_ranks(tmp_path: Path) -> None:
    sharing = groundswell.check(write_case(tmp_path, **MANY), 8)["sharing"]
    assert sharing["processes"] == (8, 1, 1)


@pytest.mark.full
def test_more_ranks_than_a_coarse_grid_has_points_for(tmp_path: Path, reference: Path) -> None:
    done = run_on_ranks(8, COMMAND, "run", write_case(tmp_path, **MANY), "-q")
    assert done.returncode == 0, done.stderr
    assert_same_flow(tmp_path / "results", reference, 8)


# --- from the flow of another run -----------------------------------------------------------------


@pytest.mark.parametrize("ranks", [1, *long_variants([2])])
def test_a_run_goes_on_from_the_flow_of_another(
    tmp_path: Path, reference: Path, ranks: int
) -> None:
    """On the same grid: nothing is left to do but to see that."""
    case = write_case(tmp_path, more=f'[start]\nflow = "{reference / "flow.nc"}"')
    done = run_on_ranks(ranks, COMMAND, "run", case, "-q", "--no-pictures")
    assert done.returncode == 0, done.stderr
    residuals = np.loadtxt(tmp_path / "results" / "residuals.csv", delimiter=",", skiprows=1)
    assert np.atleast_2d(residuals)[:, 0].tolist() == [1.0]


def test_a_start_from_a_coarser_grid(tmp_path: Path, reference: Path) -> None:
    case = write_case(tmp_path, more=f'[start]\nflow = "{reference / "flow.nc"}"')
    case.write_text(case.read_text().replace("[63, 1, 47]", "[90, 1, 70]"))
    found = groundswell.run(case)
    alone = write_case(tmp_path)
    alone.write_text(alone.read_text().replace("[63, 1, 47]", "[90, 1, 70]"))
    other = groundswell.run(alone, folder=tmp_path / "alone")
    assert found.summary["steps"] < other.summary["steps"]
    numbers = [json.loads((r.folder / "heat.json").read_text())["nusselt"] for r in (found, other)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-5)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_text("nothing"), "cannot be read as a flow"),
        (lambda path: path.unlink(), "does not exist|no such file"),
        (lambda path: change(path, "x", 2.0), "has a box of 2 x 1 x 1, not 1 x 1 x 1"),
        (lambda path: remove(path, "T"), "lacks T"),
    ],
)
def test_a_start_that_does_not_fit(
    tmp_path: Path, reference: Path, spoil: Callable[[Path], object], said: str
) -> None:
    flow = Path(shutil.copy(reference / "flow.nc", tmp_path))
    spoil(flow)
    with pytest.raises(InputError, match=said):
        groundswell.check(write_case(tmp_path, more='[start]\nflow = "flow.nc"'))


def change(path: Path, name: str, factor: float) -> None:
    with h5py.File(path, "r+") as file:
        file[name][...] *= factor


def remove(path: Path, name: str) -> None:
    with h5py.File(path, "r+") as file:
        del file[name]
