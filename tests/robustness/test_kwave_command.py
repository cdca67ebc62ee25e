"""The k-Wave commands: arguments, damaged files, and waves that grow; exit codes 0 and 1."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kwave_commands import EVERY_OUTPUT, SHAPE, Captured, assert_fails, example, files
from kwave_files import Example, write_datasets

from groundswell.solvers.ultrasound.kwave.case import OUTPUTS
from groundswell.solvers.ultrasound.kwave.command import main_cuda, main_omp


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return example().write(tmp_path / "in.h5")


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
    assert "error: the CUDA backend does not work" in error
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
