"""Checkpoints of several ranks, in boxes and in index lists, and their damage."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier
from typing import Any

import h5py
import numpy as np
import pytest
from checkpoint_states import BACKEND, PROGRESS, assert_same
from hypothesis import given, settings
from hypothesis import strategies as st
from thread_ranks import ThreadRank, run_on_threads

from groundswell.errors import DiskFull, InputError
from groundswell.exchange.communicator import Communicator, SerialCommunicator
from groundswell.formats.atomic import temporary_path
from groundswell.simulation.checkpoint import (
    NAME,
    DistributedArray,
    Progress,
    State,
    read_progress,
    remove,
    restore,
    save,
)

# --- several ranks --------------------------------------------------------------------------------

ROWS = 12
NOTHING = {"layers/velocity/x": np.zeros((3, 12, 2)), "clock": np.zeros(1)}


def whole_state(seed: int) -> dict[str, np.ndarray]:
    """Arrays of the whole run, which ranks share by rows."""
    rng = np.random.default_rng(seed)
    return {
        "vx": rng.normal(size=(ROWS, 5)),
        "layers/velocity/x": rng.normal(size=(3, ROWS, 2)).astype("f4"),
        "clock": rng.integers(0, 10**12, 1),
    }


def portions(arrays: dict[str, np.ndarray], comm: Communicator, ghosts: int = 1) -> State:
    """One rank's: its rows and some of its neighbours' beside them, as far as there are any."""
    start, stop = (ROWS * n // comm.size for n in (comm.rank, comm.rank + 1))
    first, last = max(0, start - ghosts), min(ROWS, stop + ghosts)
    found = {"clock": DistributedArray.replicated(arrays["clock"].copy(), comm)}
    for name, axis in (("vx", 0), ("layers/velocity/x", 1)):
        whole = arrays[name]
        box = tuple(slice(0, n) for n in whole.shape)

        def rows(a: int, b: int, box: Any = box, axis: int = axis) -> tuple[slice, ...]:
            return (*box[:axis], slice(a, b), *box[axis + 1 :])

        window = ((rows(0, last - first), rows(first, last)),)
        own = ((rows(start - first, stop - first), rows(start, stop)),)
        found[name] = DistributedArray(whole[rows(first, last)].copy(), whole.shape, window, own)
    return found


def save_on(ranks: int, path: Path, seed: int, progress: Progress = PROGRESS) -> list[Any]:
    return run_on_threads(
        ranks, lambda w: save(path, BACKEND, portions(whole_state(seed), w), progress, w)
    )


def assert_restored(path: Path, ranks: int, seed: int) -> None:
    progress = read_progress(path, "digest")
    for rank in range(ranks):
        comm = ThreadRank(rank, ranks, [], Barrier(1))
        found, expected = (portions(whole_state(n), comm) for n in (99, seed))
        restore(path, BACKEND, found, progress)
        assert_same(
            {name: portion.array for name, portion in found.items()},
            {name: portion.array for name, portion in expected.items()},
        )


@pytest.mark.parametrize("wrote", [1, 2, 3, 5])
def test_any_number_of_ranks_can_go_on(tmp_path: Path, wrote: int) -> None:
    path = tmp_path / NAME
    assert save_on(wrote, path, seed=6) == [None] * wrote
    for ranks in (1, 2, 3, 4, 6):
        assert_restored(path, ranks, seed=6)


def test_the_ranks_files_belong_to_the_newest_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / NAME
    for ranks, step in ((3, 100), (4, 200), (2, 300)):
        save_on(ranks, path, step, Progress(step, "digest", {}))
        parts = tuple(f"checkpoint-{step}-{rank}.h5" for rank in range(1, ranks))
        assert read_progress(path, "digest") == Progress(step, "digest", {}, parts)
        assert {p.name for p in tmp_path.iterdir()} == {NAME, *parts}
        assert_restored(path, 2, seed=step)
    remove(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("fails", [0, 2])
def test_a_disk_full_on_one_rank_leaves_the_previous_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    """Everybody hears of it."""
    path, name = tmp_path / NAME, [NAME, "checkpoint-2000-1.h5", "checkpoint-2000-2.h5"][fails]
    save_on(3, path, seed=6)

    def full(place: Path, *_: Any) -> None:
        if place == temporary_path(tmp_path / name):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("groundswell.formats.atomic.reserve", full)
    told = save_on(3, path, seed=7, progress=Progress(2000, "digest", {}))
    assert [type(error) for error in told] == [DiskFull] * 3 and name in str(told[0])
    monkeypatch.undo()
    assert read_progress(path, "digest").step == PROGRESS.step
    assert_restored(path, 2, seed=6)
    save_on(2, path, seed=8, progress=Progress(2000, "digest", {}))
    assert {p.name for p in tmp_path.iterdir()} == {NAME, "checkpoint-2000-1.h5"}
    assert_restored(path, 3, seed=8)


def test_a_rank_killed_while_it_writes_leaves_the_previous_one(tmp_path: Path) -> None:
    path = tmp_path / NAME
    save_on(3, path, seed=6)
    (tmp_path / "checkpoint-2000-1.h5").write_bytes(b"whole, but nobody names it")
    temporary_path(tmp_path / "checkpoint-2000-2.h5").write_bytes(b"half")
    assert_restored(path, 4, seed=6)
    remove(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A checkpoint that three ranks wrote."""
    save_on(3, tmp_path / NAME, seed=6)
    return tmp_path / NAME


def part(path: Path, rank: int = 2) -> Path:
    return path.with_name(read_progress(path, "digest").parts[rank - 1])


def test_another_ranks_file_that_is_gone(shared: Path) -> None:
    part(shared).unlink()
    with pytest.raises(InputError, match=f"{part(shared).name}.*start without --resume"):
        assert_restored(shared, 2, seed=6)


def test_another_ranks_file_that_is_damaged(shared: Path) -> None:
    """Every damaged byte of it is found out, or lies where it does no harm."""
    rng, file = np.random.default_rng(7), part(shared)
    whole, refused = file.read_bytes(), 0
    spoiled = [whole[:n] for n in np.linspace(0, len(whole) - 1, 15).astype(int)]
    for place in rng.choice(len(whole), 60, replace=False):
        damaged = bytearray(whole)
        damaged[place] ^= int(rng.integers(1, 256))
        spoiled.append(bytes(damaged))
    for data in spoiled:
        file.write_bytes(data)
        try:
            assert_restored(shared, 1, seed=6)
        except InputError as error:
            assert "resume" in str(error)
            refused += 1
    assert refused > 40


@pytest.mark.parametrize("change", [{"step": 1235}, {"digest": "another"}], ids=["step", "case"])
def test_another_ranks_file_of_another_checkpoint(
    shared: Path, tmp_path: Path, change: dict[str, Any]
) -> None:
    """It is whole and bears the right name."""
    elsewhere = tmp_path / "elsewhere" / NAME
    save_on(3, elsewhere, 6, replace(PROGRESS, **change))
    [other] = elsewhere.parent.glob("*-2.h5")
    other.replace(part(shared))
    with pytest.raises(InputError, match=f"{part(shared).name}.*resume"):
        assert_restored(shared, 1, seed=6)


def test_ranks_that_answer_for_too_little_or_too_much(tmp_path: Path) -> None:
    """A hole or an overlap in what was written is found by counting."""
    path = tmp_path / NAME
    for change in (-1, 1):
        whole = whole_state(6)

        def write(comm: Communicator, whole: Any = whole, change: int = change) -> None:
            state = dict(portions(whole, comm, ghosts=1))
            field = state["vx"]
            [(here, there)] = field.own
            if comm.rank == 1:
                here, there = ((slice(s[0].start, s[0].stop + change), s[1]) for s in (here, there))
            state["vx"] = DistributedArray(field.array, field.shape, field.window, ((here, there),))
            save(path, BACKEND, state, PROGRESS, comm)

        assert run_on_threads(3, write) == [None] * 3
        with pytest.raises(InputError, match=rf"hold {5 * (ROWS + change)} values of 'vx'"):
            assert_restored(path, 1, seed=6)


# --- index lists ----------------------------------------------------------------------------------


def scattered(whole: np.ndarray, comm: Communicator, seed: int, ghosts: int) -> State:
    """One rank's rows in no order, and so many ghosts, which may be its own rows again."""
    rng = np.random.default_rng(seed)
    owner = rng.integers(0, comm.size, len(whole))
    mine = rng.permutation(np.flatnonzero(owner == comm.rank))
    copies = rng.integers(0, len(whole), ghosts) if len(whole) else mine[:0]
    rows = np.concatenate([mine, copies]).astype(np.int64)
    here = rng.permutation(len(rows) + 2)[: len(rows)]  # the array has two rows of padding
    array = np.zeros((len(rows) + 2, *whole.shape[1:]), whole.dtype)
    array[here] = whole[rows]
    own = ((here[: len(mine)],), (mine,))
    return {"u": DistributedArray(array, whole.shape, (((here,), (rows,)),), (own,))}


@settings(max_examples=40)
@given(st.integers(0, 9), st.integers(1, 4), st.integers(1, 4), st.integers(0, 999))
def test_index_lists_come_back_to_any_ranks(rows: int, wrote: int, reads: int, seed: int) -> None:
    whole = np.random.default_rng(seed).normal(size=(rows, 2, 3))
    with TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        told = run_on_threads(
            wrote, lambda w: save(path, BACKEND, scattered(whole, w, seed, 3), PROGRESS, w)
        )
        assert told == [None] * wrote
        progress = read_progress(path, "digest")
        for rank in range(reads):
            comm = ThreadRank(rank, reads, [], Barrier(1))
            found, expected = (scattered(w, comm, seed + 1, 4) for w in (0 * whole, whole))
            restore(path, BACKEND, found, progress)
            assert_same({"u": found["u"].array}, {"u": expected["u"].array})


@pytest.mark.parametrize("lists_first", [True, False])
def test_boxes_and_index_lists_read_each_other(tmp_path: Path, lists_first: bool) -> None:
    whole = np.random.default_rng(5).normal(size=(ROWS, 4)).astype("f4")

    def boxes(comm: Communicator, values: np.ndarray) -> State:
        return {"u": portions({"vx": values, **NOTHING}, comm)["vx"]}

    def lists(comm: Communicator, values: np.ndarray) -> State:
        return scattered(values, comm, 7, 2)

    wrote, reads = (lists, boxes) if lists_first else (boxes, lists)
    path = tmp_path / NAME
    assert (
        run_on_threads(3, lambda w: save(path, BACKEND, wrote(w, whole), PROGRESS, w)) == [None] * 3
    )
    for rank in range(2):
        comm = ThreadRank(rank, 2, [], Barrier(1))
        found, expected = reads(comm, 0 * whole), reads(comm, whole)
        restore(path, BACKEND, found, read_progress(path, "digest"))
        assert_same({"u": found["u"].array}, {"u": expected["u"].array})


def test_an_index_list_that_is_damaged(tmp_path: Path) -> None:
    path, whole = tmp_path / NAME, np.arange(12.0).reshape(6, 2)
    save(path, BACKEND, scattered(whole, SerialCommunicator(), 1, 0), PROGRESS)
    with h5py.File(path, "r+") as file:
        file["state/u/0-rows"][0] += 1
    with pytest.raises(InputError, match="'u' is not what was written"):
        restore(path, BACKEND, scattered(whole, SerialCommunicator(), 1, 0), PROGRESS)
