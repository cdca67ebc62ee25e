"""The k-Wave commands: arguments, damaged files, full disks and signals; exit codes 0 and 1."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kwave_files import Example, as_dataset, write_datasets
from small_disk import small_disk

from groundswell.solvers.ultrasound.kwave import leg
from groundswell.solvers.ultrasound.kwave.case import OUTPUTS
from groundswell.solvers.ultrasound.kwave.command import main_cuda, main_omp

Captured = pytest.CaptureFixture[str]
SHAPE = (1, 16, 15)
EVERY_OUTPUT = [f"--{name}" for name in OUTPUTS]
MODULE = "groundswell.solvers.ultrasound.kwave.command"


def example(**more: Any) -> Example:
    """A small simulation that uses every kind of dataset."""
    shape, rng = more.pop("shape", SHAPE), np.random.default_rng(5)
    points = rng.choice(int(np.prod(shape)), 4, replace=False)
    signal = rng.standard_normal((6, 4))
    return Example(
        shape,
        speed=1500 + 100 * rng.uniform(size=shape),
        absorbing=1,
        nonlinearity=6.0,
        p0=1e5 * rng.standard_normal(shape),
        sources=[("p", points, signal, "additive"), ("ux", points, 1e-3 * signal, "dirichlet")],
        points=points,
        **more,
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return example().write(tmp_path / "in.h5")


def files(source: Path) -> list[str]:
    return ["-i", str(source), "-o", str(source.with_name("out.h5"))]


def assert_fails(arguments: list[str], capsys: Captured, message: str) -> None:
    """The command fails with one message and leaves no file."""
    before = {path.name for path in Path(arguments[1]).parent.iterdir()}
    assert main_omp(arguments) == 1
    error = capsys.readouterr().err
    assert message in error, error
    assert "Traceback" not in error
    assert {path.name for path in Path(arguments[1]).parent.iterdir()} == before


# --- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize("main", [main_omp, main_cuda])
def test_help_and_version(main: Any, capsys: Captured) -> None:
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all(f"--{name}" in printed for name in OUTPUTS)
    assert ("-g N" in printed) == (main is main_cuda)
    assert main(["--version"]) == 0
    assert "Groundswell" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: -i, -o"),
        (["-i", "a", "-o", "b", "--q_raw"], "unrecognized arguments: --q_raw"),
        (["-i", "a", "-o", "b", "-c", "10"], "argument -c: invalid choice: 10"),
        (["-i", "a", "-o", "b", "-s", "0"], "argument -s: 0 must be at least 1"),
        (["-i", "a", "-o", "b", "-t", "two"], "argument -t: invalid number value: 'two'"),
        (["-i", "a", "-o", "b", "--overlap_accuracy", "2"], "2 must be above 0 and below 1"),
        (["-i", "a", "-o", "b", "-g", "0"], "unrecognized arguments: -g 0"),
        (["-i", "a", "-o", "a"], "must be different files"),
        (["-i", "a", "-o", "b", "--checkpoint_file", "c"], "--checkpoint_file needs"),
        (["-i", "a", "-o", "b", "--checkpoint_timesteps", "5"], "need --checkpoint_file"),
    ],
)
def test_invalid_arguments_print_the_usage(
    arguments: list[str], message: str, capsys: Captured
) -> None:
    assert main_omp(arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith("usage: kspaceFirstOrder-OMP") and message in error


def test_options_of_a_complete_command_line(source: Path, capsys: Captured) -> None:
    more = "-t1 -r 25 -c 2 --verbose 2 -p -u --p_max --copy_sensor_mask -s 3 --benchmark 8".split()
    assert main_omp([*files(source), *more]) == 0
    printed = capsys.readouterr().out
    assert "15 x 16 x 1 = 240 points" in printed and "8 steps" in printed
    assert "absorbing, nonlinear" in printed and "100.0 %" in printed
    with h5py.File(source.with_name("out.h5")) as file:
        assert file["p"].shape == (1, 6, 4)
        assert {"ux", "uy", "p_max", "sensor_mask_index"} <= set(file)


def test_a_missing_gpu_is_an_error(source: Path, capsys: Captured, monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert main_cuda(files(source)) == 1
    error = capsys.readouterr().err
    assert "error: the CUDA backend was requested" in error
    assert "or use kspaceFirstOrder-OMP" in error and "backend =" not in error


def test_samples_after_the_last_step(source: Path, capsys: Captured) -> None:
    message = "-s 13: samples must start at one of the steps 1 to 12"
    assert_fails([*files(source), "-s", "13"], capsys, message)


# --- files ----------------------------------------------------------------------------------------


def test_missing_and_foreign_files(source: Path, capsys: Captured) -> None:
    assert_fails(files(source.with_name("no.h5")), capsys, "no.h5 does not exist")
    text = source.with_name("text.h5")
    text.write_text("no HDF5")
    assert_fails(files(text), capsys, "cannot be read as k-Wave input")


def test_truncated_files(source: Path, capsys: Captured) -> None:
    whole = source.read_bytes()
    for length in range(0, len(whole), len(whole) // 8 + 1):
        source.write_bytes(whole[:length])
        assert_fails(files(source), capsys, "cannot be read as k-Wave input")


def test_an_output_that_cannot_be_written(source: Path, capsys: Captured) -> None:
    missing = source.parent / "missing" / "out.h5"
    assert_fails(["-i", str(source), "-o", str(missing)], capsys, "its folder was removed")
    assert_fails(["-i", str(source), "-o", str(source.parent)], capsys, "it is a folder")


def test_an_unstable_simulation_ends_with_a_warning(source: Path, capsys: Captured) -> None:
    """It is unstable because the reference speed is below the sound speed."""
    example(steps=100).write(source, {"dt": np.float32(1e-5), "c_ref": np.float32(500)})
    assert main_omp(files(source)) == 0
    assert "warning: the pressure is not finite" in capsys.readouterr().err


def test_simulations_whose_waves_grow_cause_warnings(tmp_path: Path, capsys: Captured) -> None:
    """As k-Wave does, the command runs them."""
    density = np.full(SHAPE, 1000.0)
    density[0, 6:9, 5:9] = 1.2
    steep = Example(SHAPE, density=density, points=np.arange(3), p0=density, steps=2)
    steep.dt = 3e-7  # a Courant number of 0.56
    assert main_omp(files(steep.write(tmp_path / "steep.h5"))) == 0
    error = capsys.readouterr().err
    assert "warning: dt = 3e-07 s is unstable" in error and "densities from 1.2 to 1000" in error
    few = Example(SHAPE, absorbing=1, power=0.999, alpha=5.0, points=np.arange(3), steps=2)
    assert main_omp(files(few.write(tmp_path / "few.h5"))) == 0
    error = capsys.readouterr().err
    assert "warning: with the power 0.999 and this absorption, long waves grow" in error
    assert main_omp(files(Example(SHAPE, points=np.arange(3)).write(tmp_path / "in.h5"))) == 0
    assert "warning" not in capsys.readouterr().err


# --- damage ---------------------------------------------------------------------------------------

DATASETS = example().datasets()
FLOATS = [0.0, -1.0, 1.0, 1e-30, 1e30, np.nan, np.inf, 3.0, 0.5]
LONGS = [0, 1, 2, 3, 4, 5, 14, 16, 240, 241, 2**31, 2**63]


@st.composite
def mutations(draw: st.DrawFn) -> dict[str, Any]:
    """Changes of some datasets: other values, types or shapes, or no dataset."""
    names = draw(st.lists(st.sampled_from(sorted(DATASETS)), min_size=1, max_size=3, unique=True))
    return {name: draw(_mutated(DATASETS[name])) for name in names}


def _mutated(values: Any) -> st.SearchStrategy[Any]:
    numbers = FLOATS if values.dtype == np.float32 else LONGS
    replaced = st.tuples(st.integers(0, values.size - 1), st.sampled_from(numbers)).map(
        lambda change: _replaced(values, *change)
    )
    others: list[Any] = [
        None,
        values.astype("<f4" if values.dtype == np.uint64 else "<u8"),
        np.concatenate([values, values], 2),
        values[..., :0],
    ]
    return st.one_of(replaced, st.sampled_from(others))


def _replaced(values: Any, place: int, number: float) -> Any:
    changed = values.copy()
    changed.reshape(-1)[place] = number
    return changed


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(mutations())
def test_changed_files_run_or_are_refused(
    tmp_path_factory: pytest.TempPathFactory, changes: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("changed")
    with np.errstate(all="ignore"):
        write_datasets(folder / "in.h5", {**DATASETS, **changes})
    code = main_omp([*files(folder / "in.h5"), *EVERY_OUTPUT, "--benchmark", "2"])
    assert code in (0, 1)
    expected = {"in.h5", *["out.h5"] * (code == 0)}
    assert {path.name for path in folder.iterdir()} == expected


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_flipped_bytes_run_or_are_refused(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("flipped")
    content = bytearray(example().write(folder / "in.h5").read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=8)):
        content[place] ^= data.draw(st.integers(1, 255))
    (folder / "in.h5").write_bytes(content)
    assert main_omp([*files(folder / "in.h5"), "--p_final", "--benchmark", "2"]) in (0, 1)


# --- checkpoints ----------------------------------------------------------------------------------


def checkpointed(source: Path, steps: int = 5) -> list[str]:
    state = str(source.with_name("state.h5"))
    return [*files(source), "--checkpoint_file", state, "--checkpoint_timesteps", str(steps)]


def test_a_checkpoint_of_other_outputs_or_grids_is_refused(source: Path, capsys: Captured) -> None:
    assert main_omp([*checkpointed(source), "--p_max"]) == 0
    assert_fails([*checkpointed(source), "--p_min"], capsys, "was written with the outputs -s 1")
    example(shape=(1, 15, 15)).write(source)
    assert_fails([*checkpointed(source), "--p_max"], capsys, "has a grid of (15, 16, 1) points")


def test_damaged_files_of_an_unfinished_simulation(source: Path, capsys: Captured) -> None:
    assert main_omp(checkpointed(source)) == 0
    state, output = source.with_name("state.h5"), source.with_name("out.h5")
    kept = state.read_bytes(), output.read_bytes()
    state.write_bytes(kept[0][:3000])
    assert_fails(checkpointed(source), capsys, "cannot be read as a checkpoint")
    state.write_bytes(kept[1])
    assert_fails(checkpointed(source), capsys, "is not a checkpoint of this version")
    state.write_bytes(kept[0])
    output.write_bytes(kept[1][:3000])
    assert_fails(checkpointed(source), capsys, "cannot be read as the output file to continue")
    output.unlink()
    assert_fails(checkpointed(source), capsys, "cannot be read as the output file to continue")
    output.write_bytes(kept[1])
    assert main_omp(checkpointed(source, 7)) == 0
    assert not state.exists()


def test_a_checkpoint_after_an_interval(source: Path, monkeypatch: Any) -> None:
    """Every leg makes progress, however short its interval is."""
    clock = iter(range(10**6))
    monkeypatch.setattr(leg.time, "monotonic", lambda: float(next(clock)))
    state, legs = source.with_name("state.h5"), 0
    more = ["--checkpoint_file", str(state), "--checkpoint_interval", "1"]
    while legs == 0 or state.exists():
        assert main_omp([*files(source), *more]) == 0
        legs += 1
    assert 2 <= legs <= 12
    with h5py.File(source.with_name("out.h5")) as file:
        assert file["t_index"][0, 0, 0] == 12


# --- full disks -----------------------------------------------------------------------------------


def long_series(folder: Path, points: int, steps: int) -> Path:
    """An input file with a large time series."""
    mask = as_dataset(np.arange(points) % 240 + 1)
    return example(steps=steps).write(folder / "in.h5", {"sensor_mask_index": mask})


def test_a_full_disk_is_found_before_the_first_step(tmp_path: Path, capsys: Captured) -> None:
    source = long_series(tmp_path, 240, 20_000)  # 19 MB
    with small_disk(tmp_path / "disk", 4) as disk:
        assert main_omp(["-i", str(source), "-o", str(disk / "out.h5")]) == 1
        assert "disk full while writing" in capsys.readouterr().err
        assert not list(disk.iterdir())


@pytest.mark.parametrize("compression", ["0", "1"])
def test_a_disk_that_fills_up_leaves_the_checkpoint(
    tmp_path: Path, capsys: Captured, compression: str
) -> None:
    source = example(shape=(1, 160, 150)).write(tmp_path / "in.h5")
    reference = [*files(source), *EVERY_OUTPUT]
    assert main_omp(reference) == 0
    with small_disk(tmp_path / "disk", 4) as disk:
        state, output = disk / "state.h5", disk / "out.h5"
        more = ["--checkpoint_file", str(state), "--checkpoint_timesteps", "5"]
        run = ["-i", str(source), "-o", str(output), *EVERY_OUTPUT, *more, "-c", compression]
        assert main_omp(run) == 0
        kept = state.read_bytes()
        fill(disk)
        assert main_omp(run) == 1
        assert "disk full while writing" in capsys.readouterr().err
        assert state.read_bytes() == kept
        (disk / "ballast").unlink()
        while state.exists():
            assert main_omp(run) == 0
        assert_equal(output, source.with_name("out.h5"))


def fill(disk: Path) -> None:
    """Take all room that is left."""
    status = os.statvfs(disk)
    descriptor = os.open(disk / "ballast", os.O_RDWR | os.O_CREAT)
    os.posix_fallocate(descriptor, 0, status.f_bavail * status.f_frsize)
    os.close(descriptor)


def assert_equal(path: Path, other: Path) -> None:
    with h5py.File(path) as found, h5py.File(other) as wanted:
        assert set(found) == set(wanted)
        assert all(np.array_equal(found[name][()], wanted[name][()]) for name in wanted)


# --- signals --------------------------------------------------------------------------------------


def start(source: Path, *more: str) -> subprocess.Popen[str]:
    """Start the command in a process of its own, and wait for its first steps."""
    process = subprocess.Popen(
        [sys.executable, "-m", MODULE, *files(source), "-r", "1", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    while "left" not in process.stdout.readline():
        assert process.poll() is None
    return process


def test_a_signal_ends_a_simulation_without_files(tmp_path: Path) -> None:
    source = example(steps=5_000).write(tmp_path / "in.h5")
    process = start(source)
    process.send_signal(signal.SIGTERM)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert error.startswith("kspaceFirstOrder-OMP: error: stopped by SIGTERM after step")
    assert {path.name for path in tmp_path.iterdir()} == {"in.h5"}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_simulation_continues_from_its_checkpoint(
    tmp_path: Path, number: signal.Signals
) -> None:
    """A signal writes a new checkpoint; a killed process leaves the one before."""
    source = example(steps=1000).write(tmp_path / "in.h5")
    outputs = ["-t", "1", "--p_raw", "--p_max"]
    assert main_omp([*files(source), *outputs]) == 0
    source.with_name("out.h5").rename(tmp_path / "whole.h5")
    assert main_omp([*checkpointed(source, 50), *outputs]) == 0
    before = tmp_path.joinpath("state.h5").read_bytes()
    process = start(source, *checkpointed(source, 1000)[4:], *outputs)
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    killed = number == signal.SIGKILL
    assert process.returncode == (-signal.SIGKILL if killed else 1)
    assert killed or "start it again to continue from the checkpoint" in error
    assert (tmp_path.joinpath("state.h5").read_bytes() == before) == killed
    assert main_omp([*checkpointed(source, 1000), *outputs]) == 0
    assert_equal(source.with_name("out.h5"), tmp_path / "whole.h5")
