"""A pretended NVML: four GPUs, their places in the PCIe tree and their NVLink connections."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

SWITCH = "switch"


class FakeError(Exception):
    """NVML refuses."""


@dataclass
class Gpu:
    """One GPU of a pretended machine; its handle is its position in FakeNvml.gpus.

    Attributes:
        place: in the tree; pairs share a level by their number of shared leading parts.
        wires: where its NVLink connections lead: a bus id, SWITCH, or None if down.
        free: free memory, bytes.
        mode: 0 if several processes can use it at once.
    """

    bus: str
    uuid: str = ""
    name: str = "NVIDIA H100"
    place: tuple[int, ...] = ()
    numa: int = 0
    wires: list[str | None] = field(default_factory=list)
    free: int = 0
    mode: int = 0


class FakeNvml:
    """The part of pynvml that is used."""

    NVMLError = FakeError
    NVML_AFFINITY_SCOPE_NODE = 0
    NVML_NVLINK_MAX_LINKS = 36
    NVML_NVLINK_DEVICE_TYPE_GPU = 0
    NVML_NVLINK_DEVICE_TYPE_SWITCH = 2
    NVML_P2P_CAPS_INDEX_NVLINK = 2
    NVML_P2P_STATUS_OK = 0
    NVML_COMPUTEMODE_DEFAULT = 0
    NVML_TOPOLOGY_INTERNAL = 0
    NVML_TOPOLOGY_SINGLE = 10
    NVML_TOPOLOGY_MULTIPLE = 20
    NVML_TOPOLOGY_HOSTBRIDGE = 30
    NVML_TOPOLOGY_NODE = 40
    NVML_TOPOLOGY_SYSTEM = 50

    def __init__(self, gpus: list[Gpu]) -> None:
        self.gpus = gpus
        self.running = 0
        self.fabric = True  # carries traffic through the switch
        self.absent: set[str] = set()  # functions that this driver does not have

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("nvml") and name in self.absent:
            return self._refuse
        return found

    def _refuse(self, *arguments: object) -> None:
        raise FakeError("Function Not Found")

    def nvmlInit(self) -> None:
        self.running += 1

    def nvmlShutdown(self) -> None:
        self.running -= 1

    def nvmlDeviceGetCount(self) -> int:
        return len(self.gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:
        return index

    def nvmlDeviceGetHandleByPciBusId(self, pciBusId: bytes) -> int:
        buses = [gpu.bus.lower() for gpu in self.gpus]
        return next(n for n, bus in enumerate(buses) if bus.endswith(pciBusId.decode()))

    def nvmlDeviceGetMemoryInfo(self, handle: int, version: None = None) -> SimpleNamespace:
        return SimpleNamespace(free=self.gpus[handle].free)

    def nvmlDeviceGetComputeMode(self, handle: int) -> int:
        return self.gpus[handle].mode

    def nvmlDeviceGetName(self, handle: int) -> str:
        return self.gpus[handle].name

    def nvmlDeviceGetUUID(self, handle: int) -> str:
        return self.gpus[handle].uuid

    def nvmlDeviceGetPciInfo(self, handle: int) -> SimpleNamespace:
        return SimpleNamespace(busId=self.gpus[handle].bus)

    def nvmlDeviceGetMemoryAffinity(self, handle: int, nodeSetSize: int, scope: int) -> list[int]:
        node = self.gpus[handle].numa
        return [1 << node % 64 if word == node // 64 else 0 for word in range(nodeSetSize)]

    def nvmlDeviceGetTopologyCommonAncestor(self, device1: int, device2: int) -> int:
        a, b = self.gpus[device1].place, self.gpus[device2].place
        shared = next((n for n in range(len(a)) if a[n] != b[n]), len(a))
        return 10 * (5 - shared)

    def _wire(self, handle: int, link: int) -> str:
        wires = self.gpus[handle].wires
        if link >= len(wires):
            raise FakeError("Invalid Argument")
        return wires[link] or ""

    def nvmlDeviceGetNvLinkState(self, device: int, link: int) -> int:
        return int(bool(self._wire(device, link)))

    def nvmlDeviceGetNvLinkRemoteDeviceType(self, handle: int, link: int) -> int:
        return 2 if self._wire(handle, link) == SWITCH else 0

    def nvmlDeviceGetNvLinkRemotePciInfo(self, device: int, link: int) -> SimpleNamespace:
        return SimpleNamespace(busId=self._wire(device, link))

    def nvmlDeviceGetP2PStatus(self, device1: int, device2: int, p2pIndex: int) -> int:
        assert p2pIndex == self.NVML_P2P_CAPS_INDEX_NVLINK
        return 0 if self.fabric else 6


BUSES = ["00000000:1B:00.0", "00000000:43:00.0", "00000000:9D:00.0", "00010000:01:00.0"]
UUIDS = ["GPU-8932f937-aa", "GPU-8932e111-bb", "GPU-0a52c0de-cc", "GPU-77777777-dd"]
SHORT = ["0000:1b:00.0", "0000:43:00.0", "0000:9d:00.0", "10000:01:00.0"]
PLACES = [(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0), (1, 0, 0, 0)]


def pretend(monkeypatch: pytest.MonkeyPatch) -> FakeNvml:
    """Four GPUs, of which NVML counts the last on the bus first."""
    gpus = [Gpu(BUSES[n], UUIDS[n], place=PLACES[n], numa=n // 2) for n in (3, 0, 1, 2)]
    fake = FakeNvml(gpus)
    monkeypatch.setitem(sys.modules, "pynvml", fake)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    return fake


def wire(fake: FakeNvml, **wires: list[str | None]) -> None:
    """Give GPUs NVLink connections, by n0 to n3 in the order of the bus."""
    for gpu in fake.gpus:
        gpu.wires = wires.get(f"n{BUSES.index(gpu.bus)}", [])
