"""Files whole or absent: failures while writing, full disks, and files that grow."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import pytest
from small_disk import small_disk

from groundswell.errors import InputError, RunFailed
from groundswell.formats import appendable_hdf5 as growing
from groundswell.formats.appendable_hdf5 import AppendableFile, chunk_length
from groundswell.formats.atomic import atomic_write, disk_errors
from groundswell.seismology.formats.shaking_maps import SurfacePoints, write_shaking_map

rng = np.random.default_rng(71)


class Table(AppendableFile):
    """A growing file as small as can be: rows of four numbers."""

    def __init__(self, path: Path, resume: int | None = None, rows_a_chunk: int = 64) -> None:
        self._rows_a_chunk = rows_a_chunk
        super().__init__(path, {"rows": (None, 4)}, resume)

    def _create(self, part: Path) -> None:
        with h5py.File(part, "w") as file:
            chunks = (self._rows_a_chunk, 4)
            file.create_dataset("rows", (0, 4), "f4", maxshape=(None, 4), chunks=chunks)

    def append(self, rows: np.ndarray) -> None:
        self._extend({"rows": rows})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def read_rows(path: Path) -> np.ndarray:
    with h5py.File(path) as file:
        return file["rows"][:]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 2 MiB."""
    with small_disk(tmp_path / "disk", 2) as folder:
        yield folder


# --- whole ---------------------------------------------------------------------------------------


def test_the_file_appears_with_its_content_only_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file.txt"
    with atomic_write(path) as part:
        part.write_text("content")
        assert not path.exists()
        assert part.parent == path.parent
        assert part.name == ".file.txt.part"
    assert path.read_text() == "content"
    assert names(path.parent) == ["file.txt"]


@pytest.mark.parametrize("failure", [ValueError("no"), KeyboardInterrupt(), SystemExit(1)])
def test_a_failure_leaves_the_older_file_and_nothing_else(
    tmp_path: Path, failure: BaseException
) -> None:
    path = tmp_path / "file.txt"
    path.write_text("older")
    with pytest.raises(type(failure)), atomic_write(path) as part:
        part.write_text("half")
        raise failure
    assert path.read_text() == "older"
    assert names(tmp_path) == ["file.txt"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_told_with_the_free_space(tmp_path: Path, code: int) -> None:
    path = tmp_path / "file.bin"
    with pytest.raises(RunFailed, match=r"disk full while writing .*file\.bin.* MB free in"):  # noqa: SIM117
        with atomic_write(path) as part:
            part.write_bytes(b"half")
            raise OSError(code, os.strerror(code))
    assert names(tmp_path) == []


@pytest.mark.parametrize("code", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_no_permission_is_bad_input(tmp_path: Path, code: int) -> None:
    with pytest.raises(InputError, match=r"no permission to write .*choose another"):  # noqa: SIM117
        with atomic_write(tmp_path / "file"):
            raise OSError(code, os.strerror(code))


def test_messages_show_odd_and_long_paths_on_one_line(tmp_path: Path) -> None:
    for name in ("a\nb\u202e", "/".join(["n" * 200] * 9)):
        with pytest.raises(InputError) as caught, disk_errors(tmp_path / name):
            raise OSError(errno.EACCES, "no")
        assert str(caught.value).isprintable() and len(str(caught.value)) < 400


@pytest.mark.parametrize("code", [errno.EFBIG, errno.EMFILE])
def test_a_limit_is_not_the_disks_fault(tmp_path: Path, code: int) -> None:
    with pytest.raises(RunFailed, match=r"ulimit -a"), disk_errors(tmp_path / "file"):
        raise OSError(code, os.strerror(code))


def test_a_folder_that_cannot_hold_files_is_bad_input() -> None:
    with pytest.raises(InputError, match=r"cannot hold files; choose another"):  # noqa: SIM117
        with atomic_write("/proc/results/file"):
            pass


def test_a_failing_disk_fails_the_run(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match=os.strerror(errno.EIO)), disk_errors(tmp_path / "file"):
        raise OSError(errno.EIO, "broken")


def test_hdf5_names_the_errno_in_words() -> None:
    message = "Can't write (file write failed: filename = 'x', errno = 28, error message = ...)"
    with pytest.raises(RunFailed, match="disk full"), disk_errors("x.h5"):
        raise RuntimeError(message)
    with pytest.raises(RuntimeError, match="something else"), disk_errors("x.h5"):
        raise RuntimeError("something else")


def test_a_path_that_cannot_hold_a_file_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "below", tmp_path / ("n" * 300)):
        with pytest.raises(InputError, match="cannot be written"), atomic_write(path) as part:
            part.write_text("content")


def test_a_disk_without_the_room_is_refused_before_writing(disk: Path) -> None:
    with (
        pytest.raises(RunFailed, match="disk full"),
        atomic_write(disk / "file", size=3 << 20),
    ):
        pytest.fail("the block must not be entered")
    assert names(disk) == []
    grid = np.zeros((600, 600))
    axis = np.arange(600.0)
    with pytest.raises(RunFailed, match="disk full"):
        write_shaking_map(disk / "map.nc", grid, grid, SurfacePoints(axis, axis))
    assert names(disk) == []


# --- files that grow -----------------------------------------------------------------------------


def test_rows_survive_any_division_into_blocks(tmp_path: Path) -> None:
    rows = rng.normal(size=(300, 4)).astype("f4")
    path = tmp_path / "table.h5"
    with Table(path) as table:
        for block in np.split(rows, np.sort(rng.integers(0, 300, 12))):
            table.append(block)
            assert not path.exists()
        assert table.length == 300
    assert np.array_equal(read_rows(path), rows)
    assert names(tmp_path) == ["table.h5"]


def test_a_failed_run_leaves_a_part_to_resume(tmp_path: Path) -> None:
    rows = rng.normal(size=(90, 4)).astype("f4")
    path = tmp_path / "table.h5"
    with pytest.raises(ZeroDivisionError), Table(path) as table:
        table.append(rows[:50])
        raise ZeroDivisionError
    assert names(tmp_path) == ["table.h5.part"]
    with Table(path, resume=30) as table:
        assert table.length == 30
        table.append(rows[30:])
    assert np.array_equal(read_rows(path), rows)


def test_a_finished_file_can_be_prolonged(tmp_path: Path) -> None:
    rows = rng.normal(size=(90, 4)).astype("f4")
    path = tmp_path / "table.h5"
    with Table(path) as table:
        table.append(rows[:60])
    with Table(path, resume=40) as table:
        assert not path.exists()
        table.append(rows[40:])
    assert np.array_equal(read_rows(path), rows)


def test_a_resumed_part_does_not_shrink_before_it_is_finished(tmp_path: Path) -> None:
    """A process killed while HDF5 shrinks a file leaves one that cannot be opened."""
    path, rows = tmp_path / "table.h5", rng.normal(size=(5000, 4)).astype("f4")
    first = Table(path)
    first.append(rows)
    first.close()
    size = first.part.stat().st_size
    with Table(path, resume=10) as table:
        assert table.length == 10
        table.append(rows[10:20])
        table.sync()
        assert first.part.stat().st_size >= size
        table.append(rows[20:25])
    np.testing.assert_array_equal(read_rows(path), rows[:25])
    assert path.stat().st_size < size


def test_a_killed_run_can_be_resumed(tmp_path: Path) -> None:
    """The process dies by SIGKILL between appends: no close, no exit handler."""
    path = tmp_path / "table.h5"
    script = f"""
import os, signal, sys
sys.path[:0] = [{str(Path(__file__).parent)!r}, *{sys.path!r}]
import numpy as np
from pathlib import Path
from test_atomic import Table
table = Table(Path({str(path)!r}))
for n in range(20):
    table.append(np.full((50, 4), n, "f4"))
os.kill(os.getpid(), signal.SIGKILL)
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == -signal.SIGKILL, result.stderr
    with Table(path, resume=730) as table:
        table.append(np.full((1, 4), -1, "f4"))
    expected = np.repeat(np.arange(20), 50)[:730]
    assert np.array_equal(read_rows(path)[:, 0], [*expected, -1])


def test_resuming_asks_for_what_the_checkpoint_needs(tmp_path: Path) -> None:
    path = tmp_path / "table.h5"
    with pytest.raises(InputError, match="cannot be continued from its checkpoint"):
        Table(path, resume=1)
    with Table(path) as table:
        table.append(np.zeros((5, 4)))
    with pytest.raises(InputError, match=r"holds 5 samples.* continues after 6"):
        Table(path, resume=6)


@pytest.mark.parametrize("keep", [0, 100, 2000])
def test_a_damaged_part_is_refused(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "table.h5"
    with Table(path) as table:
        table.append(np.ones((50, 4)))
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError, match="unfinished run: it is damaged"):
        Table(path, resume=50)


def test_a_part_of_another_layout_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "table.h5", "w") as file:
        file.create_dataset("rows", (3, 5), "f4", maxshape=(None, 5))
    with pytest.raises(InputError, match=r"its rows has shape \(3, 5\)"):
        Table(tmp_path / "table.h5", resume=1)


def test_a_full_disk_leaves_the_samples_before_it(disk: Path) -> None:
    path = disk / "table.h5"
    table = Table(path, rows_a_chunk=4096)
    rows = rng.normal(size=(4096, 4)).astype("f4")
    with pytest.raises(RunFailed, match="disk full while writing"):
        for _ in range(100):
            table.append(rows)
    table.close()
    written = table.length
    assert written >= 10 * 4096
    (disk / "table.h5.part").rename(path)
    found = read_rows(path)
    assert found.shape == (written, 4)
    assert np.array_equal(found[-4096:], rows)


def test_a_full_disk_is_seen_before_hdf5_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table(tmp_path / "table.h5")
    table.append(np.ones((3, 4)))

    def full(path: Path, start: int, size: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(growing, "reserve", full)
        with pytest.raises(RunFailed, match="disk full"):
            table.append(np.ones((3, 4)))
    assert table.length == 3
    table.append(np.full((2, 4), 2.0))  # room again
    assert read_rows(table.finish())[:, 0].tolist() == [1, 1, 1, 2, 2]


def test_the_file_takes_no_more_room_than_its_rows(tmp_path: Path) -> None:
    with Table(tmp_path / "table.h5") as table:
        for _ in range(40):
            table.append(np.ones((64, 4)))
    assert (tmp_path / "table.h5").stat().st_size < 40 * 64 * 16 + 20_000


def test_balanced_pieces_cover_with_little_waste() -> None:
    for count, limit in rng.integers(1, 2000, (200, 2)):
        piece = chunk_length(int(count), int(limit))
        pieces = -(-count // piece)
        assert piece <= limit
        assert pieces == -(-count // limit)  # no more pieces than the limit asks for
        assert pieces * piece - count < pieces  # less than one a piece is wasted
