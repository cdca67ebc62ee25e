"""The benchmark's versions of the exchange: process grids, messages, and packing by copies."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from halo_oracle import EMPTY, after, before, numbered

from groundswell.backends import Backend, open_backend
from groundswell.bench.exchange.links import grids, most_even, torus
from groundswell.errors import BackendError
from groundswell.exchange.boxes import CopyLaunch
from groundswell.exchange.communicator import SerialCommunicator
from groundswell.exchange.decomposition import Decomposition, decompose, process_grids
from groundswell.exchange.ghost_field import GhostField, HaloMessages
from groundswell.exchange.messages import pack, unpack
from groundswell.exchange.pattern import Ghosts
from groundswell_rivals.exchange import versions
from groundswell_rivals.exchange.cavity import WIDEST, version_exchange
from groundswell_rivals.exchange.strided_copy import copy_box, cuda_copy


@pytest.fixture(scope="module")
def backend() -> Backend:
    return open_backend("cpu")


# --- which process grids --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ranks", "wanted"),
    [
        (2, [(2, 1, 1), (1, 2, 1), (1, 1, 2)]),
        (4, [(4, 1, 1), (1, 4, 1), (1, 1, 4), (2, 2, 1)]),
        (8, [(8, 1, 1), (1, 8, 1), (1, 1, 8), (4, 2, 1), (2, 2, 2)]),
    ],
)
def test_process_grids(ranks: int, wanted: list[tuple[int, ...]]) -> None:
    assert grids(ranks) == wanted


def test_torus() -> None:
    assert most_even(process_grids(12, 3)) == (3, 2, 2)
    cut = torus(4, 10)
    assert cut == Decomposition((20, 20, 10), (2, 2, 1), (True, True, True))


# --- what the versions exchange -------------------------------------------------------------------


class Recorded:
    """Stands for an exchange: what it would send, worked out from its arguments."""

    def __init__(self, backend: Any, comm: Any, cut: Any, fields: Any, **options: Any) -> None:
        self.packing = "kernel" if isinstance(options["transport"], str) else "copies"
        self.path, self.in_graph = "nowhere", False
        together = options.get("aggregate", True)
        planned = HaloMessages(backend, cut, comm.rank, fields)
        self.messages = planned.messages(aggregate=together)
        self.bytes = sum(message.send_bytes for message in self.messages)


class Ranks(SerialCommunicator):
    """One of several ranks that never speak."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size


class SmallRig:
    """As much of a rig as versions need."""

    def __init__(self, backend: Backend, ranks: int) -> None:
        self.backend, self.comm = backend, Ranks(0, ranks)


def recorded(
    monkeypatch: pytest.MonkeyPatch, backend: Backend, processes: tuple[int, ...]
) -> dict[str, list[Recorded]]:
    """The exchanges of each version, of a cavity of 16^3 points."""
    monkeypatch.setattr(versions, "HaloExchange", Recorded)
    cut = Decomposition((16,) * 3, processes, (False,) * 3)
    shape = tuple(n + 2 * WIDEST for n in cut.block(0).shape)
    arrays = [backend.zeros(shape, np.float64) for _ in range(5)]
    rig: Any = SmallRig(backend, cut.ranks)
    every = versions.VERSIONS.values()
    found: Any = {v.name: version_exchange(rig, "mpi", cut, arrays, v)._parts for v in every}
    return found


ALL_WIDE, OWN_WIDTHS = 5 * 2 * 16 * 16 * 8, (2 + 4 * 1) * 16 * 16 * 8  # bytes of a face


def test_versions_along_the_fast_axis(monkeypatch: pytest.MonkeyPatch, backend: Backend) -> None:
    found = recorded(monkeypatch, backend, (1, 1, 2))
    assert all(len(parts) == 1 for parts in found.values())
    sent = {name: parts[0].bytes for name, parts in found.items()}
    assert sent == {"Baseline": ALL_WIDE, "V1": ALL_WIDE, "V2": OWN_WIDTHS, "V3": OWN_WIDTHS}
    packing = {name: parts[0].packing for name, parts in found.items()}
    assert packing == {"Baseline": "copies", "V1": "kernel", "V2": "kernel", "V3": "kernel"}
    assert {name: len(p[0].messages) for name, p in found.items()} == {
        **dict.fromkeys(found, 1),
        "Baseline": 5,
    }


def test_versions_along_the_slow_axis(monkeypatch: pytest.MonkeyPatch, backend: Backend) -> None:
    found = recorded(monkeypatch, backend, (2, 1, 1))
    sent = {name: parts[0].bytes for name, parts in found.items()}
    assert sent == {"Baseline": ALL_WIDE, "V1": ALL_WIDE, "V2": OWN_WIDTHS, "V3": OWN_WIDTHS}
    packing = {name: parts[0].packing for name, parts in found.items()}
    assert packing == {"Baseline": "copies", "V1": "copies", "V2": "copies", "V3": "kernel"}
    assert {name: len(p[0].messages) for name, p in found.items()} == {
        **dict.fromkeys(found, 5),
        "V3": 1,
    }


def test_versions_along_two_axes(monkeypatch: pytest.MonkeyPatch, backend: Backend) -> None:
    """Faces of half the size, one along each axis; V1 and V2 pack those of the fast axis only."""
    found = recorded(monkeypatch, backend, (1, 2, 2))
    parts = {name: [(p.packing, p.bytes) for p in ps] for name, ps in found.items()}
    assert parts == {
        "Baseline": [("copies", ALL_WIDE)],
        "V1": [("kernel", ALL_WIDE // 2), ("copies", ALL_WIDE // 2)],
        "V2": [("kernel", OWN_WIDTHS // 2), ("copies", OWN_WIDTHS // 2)],
        "V3": [("kernel", OWN_WIDTHS)],
    }


# --- packing by copies ----------------------------------------------------------------------------


COPIES = {"copies": versions.StridedCopies, "kernel": CopyLaunch}


def packed(
    backend: Backend, cut: Decomposition, fields: list[list[GhostField]], packing: list[str]
) -> None:
    """One exchange of two ranks in this process: one packs as told, the other one unpacks."""
    messages = [
        HaloMessages(backend, cut, rank, fields[rank]).messages(aggregate=True) for rank in (0, 1)
    ]
    for rank in (0, 1):
        for sent, received in zip(messages[rank], messages[1 - rank], strict=True):
            assert sent.send_bytes == received.receive_bytes
            buffer = np.zeros(max(sent.send_bytes, 1), np.uint8)
            address = buffer.ctypes.data
            launches = [
                *COPIES[packing[rank]](backend, list(pack(sent, address))).launches,
                *COPIES[packing[1 - rank]](backend, list(unpack(received, address))).launches,
            ]
            for launch in launches:
                launch()


@pytest.mark.parametrize("packing", [["copies", "copies"], ["copies", "kernel"]])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "uint8"])
def test_copies_and_the_kernel_fill_buffers_alike(
    backend: Backend, packing: list[str], dtype: str
) -> None:
    rng = np.random.default_rng(17)
    for _ in range(5):
        axes, margin = int(rng.integers(1, 4)), 3
        cut = decompose(tuple(int(n) for n in rng.integers(4, 9, axes)), 2)
        ghosts = Ghosts(
            tuple(int(n) for n in rng.integers(0, 4, axes)),
            tuple(int(n) for n in rng.integers(0, 4, axes)),
            bool(rng.integers(2)),
        )
        whole = numbered(cut.shape, dtype)
        arrays = [backend.to_device(before(whole, cut, rank, margin)) for rank in (0, 1)]
        fields = [[GhostField(array, (margin,) * axes, ghosts)] for array in arrays]
        packed(backend, cut, fields, packing)
        for rank, array in enumerate(arrays):
            wanted = after(whole, cut, rank, ghosts, margin)
            assert np.array_equal(array, wanted), (cut, ghosts)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_the_box_that_cuda_is_given(monkeypatch: pytest.MonkeyPatch, axes: int) -> None:
    """Carried out by hand, as the driver's documentation defines the numbers."""
    driver = pytest.importorskip("cuda.bindings.driver")

    def carry_out(box: Any, stream: int) -> tuple[Any]:
        assert stream == 7
        for z in range(box.Depth):
            for y in range(box.Height):
                at = z * box.dstHeight + y, z * box.srcHeight + y
                target = int(box.dstDevice) + at[0] * box.dstPitch
                ctypes.memmove(target, int(box.srcDevice) + at[1] * box.srcPitch, box.WidthInBytes)
        return (driver.CUresult.CUDA_SUCCESS,)

    monkeypatch.setattr(driver, "cuMemcpy3DAsync", carry_out)
    rng = np.random.default_rng(18)
    source = rng.standard_normal((7, 8, 9)[:axes])
    target = np.full((9, 7, 8)[:axes], float(EMPTY))
    part = tuple(slice(2, 2 + n) for n in (3, 4, 5)[:axes])
    wanted = target.copy()
    wanted[part] = source[part]
    ends = [(array[part].ctypes.data, array.strides) for array in (target, source)]
    cuda_copy((3, 4, 5)[:axes], ends[0], ends[1], lambda: 7)()
    assert np.array_equal(target, wanted)


def test_boxes_of_scattered_values_are_refused(backend: Backend) -> None:
    with pytest.raises(BackendError, match="contiguous rows"):
        copy_box(backend, (2, 2), (0, (64, 8)), (0, (64, 16)))
