"""The k-Wave commands: checkpoints, full disks and signals."""

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
from kwave_commands import EVERY_OUTPUT, Captured, assert_fails, example, files
from kwave_files import as_dataset
from small_disk import small_disk
from variants import long_variants

from groundswell.solvers.ultrasound.kwave import leg
from groundswell.solvers.ultrasound.kwave.command import main_omp

MODULE = "groundswell.solvers.ultrasound.kwave.command"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return example().write(tmp_path / "in.h5")


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
    assert_fails(checkpointed(source), capsys, "out.h5 does not exist; delete the checkpoint file")
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


@pytest.mark.parametrize("number", [signal.SIGINT, *long_variants([signal.SIGKILL])])
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
