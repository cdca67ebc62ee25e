"""NetCDF files with many values, which threads write."""

from __future__ import annotations

import errno
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from threading import current_thread

import numpy as np
import pytest

from groundswell.backends import host_threads
from groundswell.errors import DiskFull
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.formats import netcdf, streams
from groundswell.formats.netcdf import Variable, read_netcdf
from groundswell.formats.streams import Rows, Stream
from groundswell.outputs.files import FieldsFile, write_fields, write_together

SHAPE = (5, 6, 7)


def write(path: Path) -> dict[str, Variable]:
    """A file with arrays of several types, one of them a part of a larger array."""
    rng = np.random.default_rng(2)
    wide = rng.standard_normal([n + 4 for n in SHAPE])
    values = {
        "double": rng.standard_normal(SHAPE),
        "single": rng.standard_normal(SHAPE).astype("float32"),
        "part": wide[2:-2, 2:-2, 2:-2],
        "count": rng.integers(0, 9, SHAPE),
    }
    coordinates = {
        axis: Variable((axis,), np.arange(n) * 0.5, attrs={"units": "m"})
        for axis, n in zip("zyx", SHAPE, strict=True)
    }
    fields = {name: Variable(("z", "y", "x"), v, attrs={"of": name}) for name, v in values.items()}
    write_fields(path, coordinates, fields, {"title": "many values"})
    return fields


def test_large_variables_are_written_as_small_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "small.nc")
    monkeypatch.setattr(netcdf, "_LARGE", 1)
    monkeypatch.setattr(host_threads, "CHUNK", 50)
    monkeypatch.setattr(host_threads, "default_threads", lambda: 3)
    fields = write(tmp_path / "large.nc")
    found, expected = (
        read_netcdf(tmp_path / name, list(fields)) for name in ("large.nc", "small.nc")
    )
    assert found.identical(expected)
    for name, variable in fields.items():
        np.testing.assert_array_equal(found[name], variable.values)
        assert found[name].dtype == expected[name].dtype
        assert found[name].encoding["chunksizes"] is None


@pytest.mark.parametrize(("threads", "chunk"), [(1, 50), (3, 50), (3, 10**6)])
def test_streams_are_read_in_this_thread_and_written_by_others(
    threads: int, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two variables, one with another dimension in front, come from the same sums."""
    monkeypatch.setattr(host_threads, "CHUNK", chunk)
    monkeypatch.setattr(host_threads, "default_threads", lambda: threads)
    monkeypatch.setattr(streams, "_SYNCED", 2)
    sums, readers = np.random.default_rng(5).standard_normal((2, *SHAPE)), set()

    def read(part: slice) -> np.ndarray:
        readers.add(current_thread())
        return sums.reshape(2, -1)[:, part]

    def find(given: np.ndarray) -> list[np.ndarray]:
        return [np.float32(given[0] * given[1]), np.sort(given, axis=0)]

    coordinates = {
        axis: Variable((axis,), np.arange(n) * 0.5)
        for axis, n in zip("pzyx", (2, *SHAPE), strict=True)
    }
    fields = {
        "product": Variable(("z", "y", "x"), dtype="float32", attrs={"units": "Pa"}),
        "both": Variable(("p", "z", "y", "x"), dtype="float64"),
    }
    stream = Stream(tuple(fields), Rows.whole(sums[0].size), read, find)
    path = tmp_path / "streamed.nc"
    with ThreadPoolExecutor(1) as disk:
        file = FieldsFile(path, coordinates, fields, {"title": "streams"})
        (written,) = write_together(SerialCommunicator(), disk, file, [stream])
        assert written.result() == path
    found = read_netcdf(path, list(fields))
    np.testing.assert_array_equal(found["product"], np.float32(sums[0] * sums[1]))
    np.testing.assert_array_equal(found["both"], np.sort(sums, axis=0))
    assert found["product"].attrs["units"] == "Pa" and found.attrs["title"] == "streams"
    assert readers == {current_thread()}


def test_a_file_whose_stream_fails_is_removed(tmp_path: Path) -> None:
    def read(part: slice) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    x, a = Variable(("x",), np.arange(4.0)), Variable(("x",), dtype="float32")
    stream = Stream(("a",), Rows.whole(4), read, lambda given: [])
    with ThreadPoolExecutor(1) as disk, pytest.raises(DiskFull, match="disk full while writing"):
        file = FieldsFile(tmp_path / "failed.nc", {"x": x}, {"a": a}, {})
        write_together(SerialCommunicator(), disk, file, [stream])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("shape", [(5, 6, 7), (1, 1, 9), (4, 1, 1)])
def test_boxes_of_an_array_are_written_where_they_belong(
    shape: tuple[int, int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight boxes, some of them empty, make up the whole; each is read some rows at a time."""
    monkeypatch.setattr(host_threads, "CHUNK", 10)
    rng = np.random.default_rng(8)
    values = rng.standard_normal((2, *shape))
    halves = [[slice(0, n // 2), slice(n // 2, n)] for n in shape]
    coordinates = {
        axis: Variable((axis,), np.arange(n)) for axis, n in zip("pzyx", (2, *shape), strict=True)
    }
    fields = {
        "one": Variable(tuple("zyx"), dtype="float64"),
        "two": Variable(tuple("pzyx"), dtype="float64"),
    }
    path = tmp_path / "boxes.nc"
    parts = []
    for box in product(*halves):
        own = values[:, *box]
        parts += [Stream.of_box("one", own[0], shape, box), stream_of_both(own, shape, box)]
    with ThreadPoolExecutor(1) as disk:
        file = FieldsFile(path, coordinates, fields, {})
        write_together(SerialCommunicator(), disk, file, parts)
    found = read_netcdf(path, list(fields))
    np.testing.assert_array_equal(found["one"], values[0])
    np.testing.assert_array_equal(found["two"], values)


def stream_of_both(own: np.ndarray, shape: tuple[int, ...], box: tuple[slice, ...]) -> Stream:
    rows, flat = Rows.of_box(shape, box), own.reshape(2, -1)

    def read(part: slice) -> np.ndarray:
        return flat[:, part.start * rows.size : part.stop * rows.size]

    return Stream(("two",), rows, read, lambda both: [both])
