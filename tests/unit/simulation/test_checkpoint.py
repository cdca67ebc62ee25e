"""Checkpoints: what is restored, and what every kind of damage is met with."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from checkpoint_states import BACKEND, PROGRESS, alone, assert_same, state

from groundswell.errors import InputError, RunFailed
from groundswell.formats.atomic import temporary_path
from groundswell.simulation.checkpoint import (
    NAME,
    Progress,
    belongs,
    read_progress,
    remove,
    restore,
    save,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / NAME
    save(path, BACKEND, alone(state(1)), PROGRESS)
    return path


def test_everything_comes_back_bit_by_bit(path: Path) -> None:
    target = state(2)
    restore(path, BACKEND, alone(target), PROGRESS)
    assert_same(target, state(1))
    assert read_progress(path, "digest") == PROGRESS
    assert belongs(path, "digest") and not belongs(path, "another")


def test_nothing_else_is_left_in_the_folder(path: Path) -> None:
    assert [p.name for p in path.parent.iterdir()] == [NAME]


def test_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no checkpoint .* without --resume"):
        read_progress(tmp_path / NAME, "digest")
    assert not belongs(tmp_path / NAME, "digest")


def test_one_of_another_case(path: Path) -> None:
    with pytest.raises(InputError, match="belongs to another case"):
        read_progress(path, "another")


@pytest.mark.parametrize("content", [b"", b"no HDF5 at all" * 100])
def test_a_file_of_another_kind(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError, match="is damaged"):
        read_progress(path, "digest")


def test_hdf5_of_somebody_else(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["state/vx"] = np.zeros(3)
    with pytest.raises(InputError, match="not a checkpoint of this version"):
        read_progress(path, "digest")


def test_an_array_that_is_missing(path: Path) -> None:
    target = state(2) | {"vq": np.zeros(3)}
    with pytest.raises(InputError, match="hold 0 values of 'vq' instead of 3"):
        restore(path, BACKEND, alone(target), PROGRESS)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (np.zeros((3, 5)), r"has shape \(3, 4\), not \(3, 5\)"),
        (np.zeros((3, 4, 1)), r"has shape \(3, 4\), not \(3, 4, 1\)"),
        (np.zeros((3, 4), "f4"), "is of type float64, not float32"),
    ],
    ids=["shape", "axes", "precision"],
)
def test_a_state_of_another_kind(path: Path, other: np.ndarray, told: str) -> None:
    """Not even a cast that would work is made silently."""
    with pytest.raises(InputError, match=f"'layers/velocity/x' {told}"):
        restore(path, BACKEND, alone(state(2) | {"layers/velocity/x": other}), PROGRESS)


def test_truncated_files(path: Path) -> None:
    whole = path.read_bytes()
    for length in np.linspace(0, len(whole) - 1, 60).astype(int):
        path.write_bytes(whole[:length])
        assert_refused_or_right(path)


def test_flipped_bytes(path: Path) -> None:
    """Any single damaged byte is found out, or lies where it does no harm."""
    rng = np.random.default_rng(5)
    whole = path.read_bytes()
    refused = 0
    for place in rng.choice(len(whole), min(250, len(whole)), replace=False):
        damaged = bytearray(whole)
        damaged[place] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(damaged))
        refused += assert_refused_or_right(path)
    assert refused > 150


def assert_refused_or_right(path: Path) -> bool:
    target = state(2)
    try:
        progress = read_progress(path, "digest")
        restore(path, BACKEND, alone(target), progress)
    except InputError as error:
        assert NAME in str(error) and "resume" in str(error)
        return True
    assert progress == PROGRESS
    assert_same(target, state(1))
    return False


@pytest.mark.parametrize("at", ["reserve", "sync"])
def test_a_full_disk_leaves_the_previous_one(
    path: Path, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(f"groundswell.formats.atomic.{at}", full)
    with pytest.raises(RunFailed, match="disk full"):
        save(path, BACKEND, alone(state(3)), Progress(2000, "digest", {}))
    monkeypatch.undo()
    target = state(2)
    restore(path, BACKEND, alone(target), PROGRESS)
    assert_same(target, state(1))
    assert [p.name for p in path.parent.iterdir()] == [NAME]


def test_a_write_that_hdf5_fails_in(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create = h5py.Group.create_dataset

    def fail(group: h5py.Group, name: str, **options: Any) -> Any:
        if "clock" in f"{group.name}/{name}":
            raise OSError("Can't write data (file write failed: errno = 28, error message = ...)")
        return create(group, name, **options)

    monkeypatch.setattr(h5py.Group, "create_dataset", fail)
    with pytest.raises(RunFailed, match="disk full"):
        save(path, BACKEND, alone(state(3)), Progress(2000, "digest", {}))
    assert read_progress(path, "digest") == PROGRESS


def test_removing_takes_what_a_killed_run_left(path: Path) -> None:
    temporary_path(path).write_bytes(b"half a checkpoint")
    remove(path.parent)
    remove(path.parent)
    assert list(path.parent.iterdir()) == []
