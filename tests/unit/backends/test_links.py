"""What joins GPUs, read through a pretended NVML: mapping of devices, kinds of paths, refusals."""

from __future__ import annotations

import inspect
import sys

import pytest
from fake_nvml import BUSES, PLACES, SHORT, SWITCH, UUIDS, FakeNvml, pretend, wire

from groundswell.backends import links
from groundswell.backends.links import (
    BANDWIDTH,
    NVLINK_BANDWIDTH,
    Device,
    DeviceLink,
    link_times,
    read_links,
)
from groundswell.errors import BackendError


@pytest.fixture
def nvml(monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    """Four GPUs, of which NVML counts the last on the bus first."""
    return pretend(monkeypatch)


def pairs() -> dict[tuple[int, int], DeviceLink]:
    return {pair.devices: pair for pair in read_links().pairs}


# --- devices --------------------------------------------------------------------------------------


def test_devices_come_in_the_order_of_the_bus(nvml: FakeNvml) -> None:
    assert read_links().devices == tuple(
        Device("NVIDIA H100", UUIDS[n], SHORT[n], n // 2) for n in range(4)
    )
    assert nvml.running == 0


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("0,1,2,3", [0, 1, 2, 3]),
        ("2", [2]),
        (" 3 , 0", [3, 0]),
        (UUIDS[1], [1]),
        ("GPU-8932e,GPU-0a", [1, 2]),
        ("gpu-77777777,0", [3, 0]),
        ("1,0,-1,2", [1, 0]),
    ],
)
def test_cuda_visible_devices(
    nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch, listed: str, expected: list[int]
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", listed)
    links = read_links()
    assert [SHORT.index(device.bus) for device in links.devices] == expected
    for pair in links.pairs:
        a, b = (PLACES[expected[n]] for n in pair.devices)
        shared = sum(a[: n + 1] == b[: n + 1] for n in range(4))
        assert pair.level == ["system", "node", "hostbridge", "multiple"][shared]


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ("", "leaves no GPU visible"),
        ("-1", "leaves no GPU visible"),
        ("NoDevFiles", "'NoDevFiles', which names 0 GPUs of: GPU-8932f937-aa"),
        ("0,4", "'4', which names 0 GPUs"),
        ("0,,1", "'', which names 0 GPUs"),
        ("GPU-8932", "names 2 GPUs"),
        ("1,GPU-8932e111", "lists a GPU twice"),
        ("MIG-GPU-8932f937-aa/1/0", "MIG"),
    ],
)
def test_lists_of_devices_that_are_refused(
    nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch, listed: str, message: str
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", listed)
    with pytest.raises(BackendError, match=message) as caught:
        read_links()
    assert f"CUDA_VISIBLE_DEVICES = {listed!r}" in str(caught.value)
    assert nvml.running == 0


def test_numbers_of_unlike_gpus_need_an_order(
    nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch
) -> None:
    nvml.gpus[0].name = "NVIDIA T400"
    assert len(read_links().devices) == 4
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    with pytest.raises(BackendError, match="CUDA_DEVICE_ORDER=PCI_BUS_ID"):
        read_links()
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    assert [device.bus for device in read_links().devices] == [SHORT[1]]


@pytest.mark.parametrize("node", [0, 63, 64, 1023])
def test_numa_nodes(nvml: FakeNvml, node: int) -> None:
    nvml.gpus[1].numa = node
    assert read_links().devices[0].numa == node


# --- paths ----------------------------------------------------------------------------------------


def test_pcie_levels_by_their_codes(nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    for code, level in zip(range(0, 60, 10), BANDWIDTH, strict=False):
        monkeypatch.setattr(nvml, "nvmlDeviceGetTopologyCommonAncestor", lambda a, b, c=code: c)
        assert {pair.level for pair in read_links().pairs} == {level}
        assert {pair.kind for pair in read_links().pairs} == {level}
        assert {pair.bandwidth for pair in read_links().pairs} == {BANDWIDTH[level]}


def test_direct_nvlinks_are_counted_to_their_far_end(nvml: FakeNvml) -> None:
    wire(nvml, n0=[BUSES[1], None, BUSES[1], BUSES[2]], n1=[BUSES[0], BUSES[0]], n2=[BUSES[0]])
    found = pairs()
    assert (found[0, 1].kind, found[0, 1].nvlinks, found[0, 1].switched) == ("nvlink", 2, False)
    assert found[0, 1].bandwidth == 2 * NVLINK_BANDWIDTH
    assert (found[0, 2].kind, found[0, 2].nvlinks) == ("nvlink", 1)
    assert (found[1, 2].kind, found[0, 3].kind) == ("hostbridge", "system")
    assert found[0, 1].level == "multiple"


def test_nvswitch_joins_all_and_the_fewer_links_count(nvml: FakeNvml) -> None:
    wire(nvml, n0=[SWITCH] * 18, n1=[SWITCH] * 18, n2=[SWITCH] * 16)
    found = pairs()
    assert (found[0, 1].kind, found[0, 1].nvlinks) == ("nvswitch", 18)
    assert found[0, 1].bandwidth == 18 * NVLINK_BANDWIDTH
    assert (found[1, 2].kind, found[1, 2].nvlinks) == ("nvswitch", 16)
    assert found[0, 3].kind == "system"


def test_a_switch_that_does_not_work_is_not_counted(nvml: FakeNvml) -> None:
    for gpu in nvml.gpus:
        gpu.wires = [SWITCH] * 18
    nvml.fabric = False
    assert {pair.nvlinks for pair in read_links().pairs} == {0}


def test_what_nvml_does_not_tell_is_unknown(nvml: FakeNvml) -> None:
    nvml.absent = {
        "nvmlDeviceGetMemoryAffinity",
        "nvmlDeviceGetNvLinkState",
        "nvmlDeviceGetTopologyCommonAncestor",
    }
    links = read_links()
    assert {pair.kind for pair in links.pairs} == {"unknown"}
    assert {device.numa for device in links.devices} == {None}


def test_times_of_links_are_in_the_order_of_the_gpus(nvml: FakeNvml) -> None:
    """NVLink joins 1 and 2; switches, host bridges and the link between sockets join the others."""
    wire(nvml, n1=[BUSES[2]] * 4, n2=[BUSES[1]] * 4)
    pairs = {frozenset(pair.devices): 1 / pair.bandwidth for pair in read_links().pairs}
    order = [2, 3, 0, 1]
    expected = [[pairs.get(frozenset((a, b)), 0.0) for b in order] for a in order]
    found = link_times([SHORT[n] for n in order])
    assert found.tolist() == expected and found[0, 3] == 1 / (4 * NVLINK_BANDWIDTH)


def test_times_of_links_that_nvml_does_not_know_are_zero(nvml: FakeNvml) -> None:
    assert not link_times([*SHORT[:3], "0000:ff:00.0"]).any()
    nvml.absent = {"nvmlInit"}
    assert not link_times(SHORT).any()


# --- what is missing ------------------------------------------------------------------------------


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", None)
    with pytest.raises(BackendError, match=r"nvidia-ml-py is not installed.*'\.\[cuda13\]'"):
        read_links()


def test_without_a_driver(nvml: FakeNvml) -> None:
    nvml.absent = {"nvmlInit"}
    with pytest.raises(BackendError, match="NVML reports: Function Not Found"):
        read_links()


def test_a_device_that_fails(nvml: FakeNvml) -> None:
    nvml.absent = {"nvmlDeviceGetUUID"}
    with pytest.raises(BackendError, match="NVML reports"):
        read_links()
    assert nvml.running == 0


def test_the_pretended_library_is_like_the_real_one() -> None:
    real = pytest.importorskip("pynvml")
    names = [name for name in vars(FakeNvml) if name.lower().startswith("nvml")]
    assert len(names) > 20
    for name in names:
        genuine, pretended = getattr(real, name), getattr(FakeNvml, name)
        if isinstance(pretended, int) and name != "NVML_NVLINK_MAX_LINKS":
            assert genuine == pretended, name
        elif inspect.isfunction(pretended):
            taken = inspect.signature(inspect.unwrap(genuine)).parameters
            assert len(taken) == len(inspect.signature(pretended).parameters) - 1, name


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
def test_the_real_machine() -> None:
    """CUDA and NVML agree on what is visible and how it is named."""
    pytest.importorskip("pynvml")
    import cupy

    runtime = cupy.cuda.runtime
    count = runtime.getDeviceCount()
    buses = {runtime.deviceGetPCIBusId(n).lower() for n in range(count)}
    assert {device.bus for device in read_links().devices} == buses


def test_memory_that_processes_can_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exclusive GPU has none; an unknown mode is not exclusive."""
    fake = pretend(monkeypatch)
    for gpu, free in zip(fake.gpus, (400, 100, 200, 300), strict=True):
        gpu.free = free
    fake.gpus[2].mode = 3
    assert links.shareable_memory(SHORT) == [100, 0, 300, 400]
    fake.absent = {"nvmlDeviceGetComputeMode"}
    assert links.shareable_memory(SHORT[:2]) == [100, 200]
