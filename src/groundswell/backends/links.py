"""The visible NVIDIA GPUs, the links between them, read through NVML, and the best use of these."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import combinations, permutations, takewhile
from math import factorial, perm
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from groundswell.arrays import Floats, HostArray
from groundswell.errors import BackendError, install

if TYPE_CHECKING:
    import pynvml

Answer = TypeVar("Answer")

BANDWIDTH = {
    "internal": 25e9,
    "single": 25e9,
    "multiple": 25e9,
    "hostbridge": 20e9,
    "node": 16e9,
    "system": 10e9,
    "unknown": 10e9,
}
"""Assumed bandwidth in each direction, bytes/s, by the nearest common PCIe ancestor of two GPUs.

From near to far, the ancestor is their board, one switch, several switches, a host bridge, a NUMA
node or the link between sockets; it is `unknown` if NVML does not report it. The values are some
80 % of 16 lanes of PCIe 4.0 (31.5 GB/s), and less through a processor. Only their ratios matter for
the binding of ranks to GPUs."""

NVLINK_BANDWIDTH = 25e9
"""Bandwidth of one link of NVLink 2, 3 or 4, bytes/s in each direction.

NVIDIA gives 900 GB/s for the 18 links of an H100, counting both directions. A link of version 1 has
20e9 and one of version 5 has 50e9, which is far above PCIe too."""

SWITCH = "NVSwitch"
MOST_BINDINGS = factorial(8)  # largest number of trials; 8 GPUs take 0.1 s
ROUNDING = 1e-9  # relative difference of times that count as equal
NUMA_WORDS = 16  # words of 64 bits in a mask of NUMA nodes

MISSING = (
    "the links between GPUs cannot be read: {reason}; install a driver, and "
    f"{install('cuda13')} (or cuda12)"
)


@dataclass(frozen=True)
class Device:
    """A visible GPU.

    Attributes:
        bus: PCI bus id in CUDA's format, such as `0000:1b:00.0`. It identifies the device however
            CUDA numbers the devices.
        numa: nearest NUMA node of the host; None if NVML reports none or several.
    """

    name: str
    uuid: str
    bus: str
    numa: int | None


@dataclass(frozen=True)
class DeviceLink:
    """The link between two devices.

    Attributes:
        devices: their positions among the visible devices.
        level: nearest common PCIe ancestor, a key of BANDWIDTH.
        nvlinks: number of NVLink connections; through a switch, the smaller number of the two.
        switched: whether the connections go through NVSwitch, which joins all its GPUs alike.
    """

    devices: tuple[int, int]
    level: str
    nvlinks: int = 0
    switched: bool = False

    @property
    def kind(self) -> str:
        """`nvswitch`, `nvlink` or the PCIe level."""
        return ("nvswitch" if self.switched else "nvlink") if self.nvlinks else self.level

    @property
    def bandwidth(self) -> float:
        """Assumed bandwidth in each direction, bytes/s."""
        return self.nvlinks * NVLINK_BANDWIDTH or BANDWIDTH[self.level]


@dataclass(frozen=True)
class DeviceTopology:
    """The visible devices, in the order of CUDA_VISIBLE_DEVICES or PCI bus ids, and their links."""

    devices: tuple[Device, ...]
    pairs: tuple[DeviceLink, ...]


def read_links() -> DeviceTopology:
    """Read the GPUs that this process sees and the links between them.

    Raises:
        BackendError: nvidia-ml-py or the driver is missing, no GPU is visible, or
            CUDA_VISIBLE_DEVICES is not valid.
    """
    with _nvml() as nvml:
        count = nvml.nvmlDeviceGetCount()
        handles = [nvml.nvmlDeviceGetHandleByIndex(n) for n in range(count)]
        known = {_device(nvml, handle): handle for handle in handles}
        devices = visible(sorted(known, key=lambda device: (len(device.bus), device.bus)))
        gpus = [(device.bus, known[device], _nvlinks(nvml, known[device])) for device in devices]
        pairs = [_pair(nvml, gpus, *ends) for ends in combinations(range(len(gpus)), 2)]
    return DeviceTopology(tuple(devices), tuple(pairs))


def link_times(buses: Sequence[str]) -> Floats:
    """Seconds per byte between GPUs, (gpus, gpus); zeros if NVML fails or lists other GPUs."""
    times = np.zeros((len(buses), len(buses)))
    with suppress(BackendError):
        links = read_links()
        known = [device.bus for device in links.devices]
        for pair in links.pairs if sorted(known) == sorted(buses) else ():
            a, b = (buses.index(known[n]) for n in pair.devices)
            times[a, b] = times[b, a] = 1 / pair.bandwidth
    return times


# --- CUDA_VISIBLE_DEVICES -------------------------------------------------------------------------


def visible(devices: Sequence[Device]) -> list[Device]:
    """The devices that CUDA_VISIBLE_DEVICES lists, in its order.

    An entry is a number or the beginning of a UUID, and a negative number ends the list (CUDA C++
    Programming Guide, "CUDA Environment Variables"). CUDA silently ignores all entries after one
    that matches no GPU; we raise an error instead.

    Args:
        devices: all devices, in PCI order.

    Raises:
        BackendError: an entry matches no GPU, several GPUs or a MIG instance, or a GPU is listed
            twice; entries are numbers although there are several GPU models, which CUDA sorts by
            speed; or no GPU is visible.
    """
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        found = list(devices)
    else:
        entries = [entry.strip() for entry in listed.split(",")] if listed.strip() else []
        kept = takewhile(lambda entry: not entry.startswith("-"), entries)
        found = [_find_device(entry, devices) for entry in kept]
    if not found or len(set(found)) < len(found):
        reason = "lists a GPU twice" if found else "leaves no GPU visible"
        raise _invalid(f"{reason}; list each GPU to be used once, or unset it")
    return found


def _find_device(entry: str, devices: Sequence[Device]) -> Device:
    if entry.startswith("MIG-"):
        raise _invalid(f"lists {entry!r}; MIG instances have no links between them; list GPUs")
    if entry.isdecimal():
        _require_pci_order(devices)
        found = list(devices[int(entry) : int(entry) + 1])
    else:
        found = [d for d in devices if entry and d.uuid.lower().startswith(entry.lower())]
    if len(found) != 1:
        uuids = ", ".join(device.uuid for device in devices)
        raise _invalid(f"lists {entry!r}, which names {len(found)} GPUs of: {uuids}")
    return found[0]


def _require_pci_order(devices: Sequence[Device]) -> None:
    by_bus = os.environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    if not by_bus and len({device.name for device in devices}) > 1:
        raise _invalid(
            "counts GPUs of several models, which CUDA sorts by speed; list UUIDs, or set "
            "CUDA_DEVICE_ORDER=PCI_BUS_ID"
        )


def _invalid(problem: str) -> BackendError:
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    return BackendError(f"CUDA_VISIBLE_DEVICES = {listed!r} {problem}")


def shareable_memory(buses: Sequence[str]) -> list[int]:
    """Free memory, bytes, of GPUs that several processes may use at once; 0 of exclusive ones.

    The query needs no CUDA context.

    Raises:
        BackendError: nvidia-ml-py or the driver is missing.
    """
    with _nvml() as nvml:
        handles = [nvml.nvmlDeviceGetHandleByPciBusId(bus.encode()) for bus in buses]
        modes = [_query(nvml, nvml.nvmlDeviceGetComputeMode, handle) for handle in handles]
        free = [int(nvml.nvmlDeviceGetMemoryInfo(handle).free) for handle in handles]
        shared = [mode in (None, nvml.NVML_COMPUTEMODE_DEFAULT) for mode in modes]
        return [size * is_shared for size, is_shared in zip(free, shared, strict=True)]


# --- NVML -----------------------------------------------------------------------------------------


@contextmanager
def _nvml() -> Iterator[ModuleType]:
    """Context in which NVML is initialized; raises its errors as BackendError."""
    try:
        import pynvml
    except ImportError as error:
        raise BackendError(MISSING.format(reason="nvidia-ml-py is not installed")) from error
    try:
        pynvml.nvmlInit()
        try:
            yield pynvml
        finally:
            pynvml.nvmlShutdown()
    except pynvml.NVMLError as error:
        raise BackendError(MISSING.format(reason=f"NVML reports: {error}")) from error


def _query(nvml: ModuleType, function: Callable[..., Answer], *arguments: object) -> Answer | None:
    """The result of an NVML function, or None if this driver or device does not support it."""
    try:
        return function(*arguments)
    except nvml.NVMLError:
        return None


def _device(nvml: ModuleType, handle: pynvml.c_nvmlDevice_t) -> Device:
    return Device(
        name=nvml.nvmlDeviceGetName(handle),
        uuid=nvml.nvmlDeviceGetUUID(handle),
        bus=_bus(nvml.nvmlDeviceGetPciInfo(handle)),
        numa=_numa(nvml, handle),
    )


def _bus(pci: pynvml.c_nvmlPciInfo_v3_t) -> str:
    """PCI bus id in CUDA's format: NVML writes the domain with eight digits, CUDA with four."""
    domain, rest = pci.busId.split(":", 1)
    return f"{int(domain, 16):04x}:{rest.lower()}"


def _numa(nvml: ModuleType, handle: pynvml.c_nvmlDevice_t) -> int | None:
    scope = nvml.NVML_AFFINITY_SCOPE_NODE
    words = _query(nvml, nvml.nvmlDeviceGetMemoryAffinity, handle, NUMA_WORDS, scope)
    mask = sum(word << (64 * n) for n, word in enumerate(words or ()))
    return mask.bit_length() - 1 if mask.bit_count() == 1 else None


def _level(nvml: ModuleType, a: pynvml.c_nvmlDevice_t, b: pynvml.c_nvmlDevice_t) -> str:
    names = {getattr(nvml, f"NVML_TOPOLOGY_{name.upper()}", None): name for name in BANDWIDTH}
    return names.get(_query(nvml, nvml.nvmlDeviceGetTopologyCommonAncestor, a, b), "unknown")


def _nvlinks(nvml: ModuleType, handle: pynvml.c_nvmlDevice_t) -> Counter[str]:
    """Number of active NVLink connections to each bus id, or to SWITCH."""
    numbers = range(nvml.NVML_NVLINK_MAX_LINKS)
    active = [n for n in numbers if _query(nvml, nvml.nvmlDeviceGetNvLinkState, handle, n)]
    return Counter(_far_end(nvml, handle, n) for n in active)


def _far_end(nvml: ModuleType, handle: pynvml.c_nvmlDevice_t, link: int) -> str:
    kind = _query(nvml, nvml.nvmlDeviceGetNvLinkRemoteDeviceType, handle, link)
    if kind == nvml.NVML_NVLINK_DEVICE_TYPE_SWITCH:
        return SWITCH  # a machine has several switches, each connected to every GPU
    pci = _query(nvml, nvml.nvmlDeviceGetNvLinkRemotePciInfo, handle, link)
    return _bus(pci) if pci else "unknown"


Gpu = tuple[str, "pynvml.c_nvmlDevice_t", Counter[str]]  # bus id, handle, NVLink connections


def _pair(nvml: ModuleType, gpus: Sequence[Gpu], a: int, b: int) -> DeviceLink:
    nvlinks, switched = _count_nvlinks(nvml, gpus[a], gpus[b])
    return DeviceLink((a, b), _level(nvml, gpus[a][1], gpus[b][1]), nvlinks, switched)


def _count_nvlinks(nvml: ModuleType, a: Gpu, b: Gpu) -> tuple[int, bool]:
    """NVLink connections of two GPUs, and whether they go through NVSwitch."""
    direct = a[2][b[0]]
    through = min(a[2][SWITCH], b[2][SWITCH])
    if direct or not through:
        return direct, False
    # Links to a switch can be active before the fabric carries traffic between the two GPUs.
    status = _query(nvml, nvml.nvmlDeviceGetP2PStatus, a[1], b[1], nvml.NVML_P2P_CAPS_INDEX_NVLINK)
    works = status == nvml.NVML_P2P_STATUS_OK
    return (through, True) if works else (0, False)


# --- the binding of ranks to GPUs -----------------------------------------------------------------


def bind(times: Floats, traffic: HostArray) -> list[int]:
    """The GPU of each rank that minimises the sum of the times of all messages.

    Slow links are shared, above all the one between sockets: the sum is smallest where few bytes
    cross them. The authors of k-Wave report the effect on two sockets with four GPUs each: with the
    best binding 4 overlaps cross the link between the sockets, with the worst all of them.

    Of equal bindings the first in the order of ranks is taken. Ranks keep their order without a
    search if all links are equal or unknown, or there are too many bindings to try (more than 8
    GPUs with as many ranks). On fewer GPUs, equal groups of consecutive ranks share one.

    Args:
        times: seconds per byte between GPUs, (gpus, gpus).
        traffic: bytes from rank to rank, (ranks, ranks).
    """
    ranks, gpus = len(traffic), len(times)
    count = min(ranks, gpus)
    groups = np.arange(ranks) * count // ranks
    links = times[~np.eye(gpus, dtype=bool)]
    if len(set(links)) > 1 and perm(gpus, count) <= MOST_BINDINGS:
        sent = np.zeros((count, count))
        np.add.at(sent, (groups[:, None], groups), traffic)
        bindings = np.array(list(permutations(range(gpus), count)))
        total = np.tensordot(times[bindings[:, :, None], bindings[:, None]], sent)
        groups = bindings[np.argmax(total <= total.min() * (1 + ROUNDING))][groups]
    return [int(gpu) for gpu in groups]
