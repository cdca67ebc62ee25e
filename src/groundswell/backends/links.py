"""Which NVIDIA GPUs are visible and what joins each pair of them: plain data read through NVML."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations, takewhile
from typing import Any

from groundswell.errors import BackendError

BANDWIDTH = {
    "internal": 25e9,
    "single": 25e9,
    "multiple": 25e9,
    "hostbridge": 20e9,
    "node": 16e9,
    "system": 10e9,
    "unknown": 10e9,
}
"""Assumed bytes/s in each direction between GPUs whose nearest common PCIe ancestor is (nearest
first) on their own board, one switch, several switches, one host bridge, one NUMA node, or only
the link between sockets; `unknown` where NVML does not say. About 80 % of 16 lanes of PCIe 4.0
(31.5 GB/s), and less through a processor. Only their ratios matter to a binding."""

NVLINK_BANDWIDTH = 25e9
"""Bytes/s in each direction of one link of NVLink 2, 3 and 4 (NVIDIA: 900 GB/s for the H100's 18
links, both directions counted). Version 1 has 20e9 and version 5 has 50e9: far above PCIe too."""

SWITCH = "NVSwitch"
NUMA_WORDS = 16  # of 64 NUMA nodes each

MISSING = (
    "the links between GPUs were asked for, but {reason}; install a driver and "
    "`pip install 'groundswell[cuda13]'` (or cuda12)"
)


@dataclass(frozen=True)
class Device:
    """A visible GPU.

    Attributes:
        bus: PCI bus id as CUDA writes it, such as `0000:1b:00.0`; it opens the device whatever
            the order in which CUDA counts.
        numa: NUMA node of the host nearest to it; None where NVML names none, or several.
    """

    name: str
    uuid: str
    bus: str
    numa: int | None


@dataclass(frozen=True)
class Pair:
    """What joins two devices, given by their positions among the visible ones.

    Attributes:
        level: nearest common PCIe ancestor, a key of BANDWIDTH.
        nvlinks: NVLink connections between them (the fewer of the two sides', through a switch).
        switched: those connections go through NVSwitch, which joins all its GPUs alike.
    """

    devices: tuple[int, int]
    level: str
    nvlinks: int = 0
    switched: bool = False

    @property
    def kind(self) -> str:
        """`nvswitch`, `nvlink`, or the PCIe level."""
        return ("nvswitch" if self.switched else "nvlink") if self.nvlinks else self.level

    @property
    def bandwidth(self) -> float:
        """Assumed, bytes/s in each direction."""
        return self.nvlinks * NVLINK_BANDWIDTH or BANDWIDTH[self.level]


@dataclass(frozen=True)
class Links:
    """The visible devices, in the order of CUDA_VISIBLE_DEVICES or of the bus, and all pairs."""

    devices: tuple[Device, ...]
    pairs: tuple[Pair, ...]


def read_links() -> Links:
    """The GPUs that CUDA_VISIBLE_DEVICES lets this process see, and what joins them.

    Raises:
        BackendError: nvidia-ml-py or the driver is missing, no GPU is visible, or
            CUDA_VISIBLE_DEVICES asks for what is not there.
    """
    with _nvml() as nvml:
        count = nvml.nvmlDeviceGetCount()
        handles = [nvml.nvmlDeviceGetHandleByIndex(n) for n in range(count)]
        known = {_device(nvml, handle): handle for handle in handles}
        devices = visible(sorted(known, key=lambda device: (len(device.bus), device.bus)))
        gpus = [(device.bus, known[device], _nvlinks(nvml, known[device])) for device in devices]
        pairs = [
            Pair((a, b), _level(nvml, gpus[a][1], gpus[b][1]), *_joined(nvml, gpus[a], gpus[b]))
            for a, b in combinations(range(len(gpus)), 2)
        ]
    return Links(tuple(devices), tuple(pairs))


# --- CUDA_VISIBLE_DEVICES -------------------------------------------------------------------------


def visible(devices: Sequence[Device]) -> list[Device]:
    """Those of `devices` (in PCI order) that CUDA_VISIBLE_DEVICES lists, in its order.

    An entry is a position or the beginning of a UUID; as in CUDA, a negative one ends the list
    (CUDA C++ Programming Guide, "CUDA Environment Variables"). Where CUDA would silently drop what
    follows an entry that names no GPU, this refuses.

    Raises:
        BackendError: an entry names no GPU, several, one a second time or a MIG instance; counts
            GPUs of several models, which CUDA orders in its own way; or nothing is visible.
    """
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        found = list(devices)
    else:
        entries = [entry.strip() for entry in listed.split(",")] if listed.strip() else []
        kept = takewhile(lambda entry: not entry.startswith("-"), entries)
        found = [_named(entry, devices) for entry in kept]
    if not found or len(set(found)) < len(found):
        reason = "lists a GPU twice" if found else "leaves no GPU visible"
        raise _refusal(f"{reason}; list each GPU to be used once, or unset it")
    return found


def _named(entry: str, devices: Sequence[Device]) -> Device:
    if entry.startswith("MIG-"):
        raise _refusal(f"lists {entry!r}; MIG instances have no links between them; list GPUs")
    if entry.isdecimal():
        _check_order(devices)
        named = list(devices[int(entry) : int(entry) + 1])
    else:
        named = [d for d in devices if entry and d.uuid.lower().startswith(entry.lower())]
    if len(named) != 1:
        uuids = ", ".join(device.uuid for device in devices)
        raise _refusal(f"lists {entry!r}, which names {len(named)} GPUs of: {uuids}")
    return named[0]


def _check_order(devices: Sequence[Device]) -> None:
    by_bus = os.environ.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID"
    if not by_bus and len({device.name for device in devices}) > 1:
        raise _refusal(
            "counts GPUs of several models, which CUDA sorts by speed; list UUIDs, or set "
            "CUDA_DEVICE_ORDER=PCI_BUS_ID"
        )


def _refusal(what: str) -> BackendError:
    listed = os.environ.get("CUDA_VISIBLE_DEVICES")
    return BackendError(f"CUDA_VISIBLE_DEVICES = {listed!r} {what}")


# --- NVML -----------------------------------------------------------------------------------------


@contextmanager
def _nvml() -> Iterator[Any]:
    """The library, started; what it cannot do becomes a BackendError."""
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


def _ask(nvml: Any, question: Callable[..., Any], *arguments: Any) -> Any:
    """The answer, or None where this driver or device has none."""
    try:
        return question(*arguments)
    except nvml.NVMLError:
        return None


def _device(nvml: Any, handle: Any) -> Device:
    return Device(
        name=nvml.nvmlDeviceGetName(handle),
        uuid=nvml.nvmlDeviceGetUUID(handle),
        bus=_bus(nvml.nvmlDeviceGetPciInfo(handle)),
        numa=_numa(nvml, handle),
    )


def _bus(pci: Any) -> str:
    """NVML writes eight digits of domain, CUDA four."""
    domain, rest = pci.busId.split(":", 1)
    return f"{int(domain, 16):04x}:{rest.lower()}"


def _numa(nvml: Any, handle: Any) -> int | None:
    scope = nvml.NVML_AFFINITY_SCOPE_NODE
    words = _ask(nvml, nvml.nvmlDeviceGetMemoryAffinity, handle, NUMA_WORDS, scope)
    mask = sum(word << (64 * n) for n, word in enumerate(words or ()))
    return mask.bit_length() - 1 if mask.bit_count() == 1 else None


def _level(nvml: Any, a: Any, b: Any) -> str:
    names = {getattr(nvml, f"NVML_TOPOLOGY_{name.upper()}", None): name for name in BANDWIDTH}
    return names.get(_ask(nvml, nvml.nvmlDeviceGetTopologyCommonAncestor, a, b), "unknown")


def _nvlinks(nvml: Any, handle: Any) -> Counter[str]:
    """How many active NVLink connections lead to each bus id, or to SWITCH."""
    numbers = range(nvml.NVML_NVLINK_MAX_LINKS)
    active = [n for n in numbers if _ask(nvml, nvml.nvmlDeviceGetNvLinkState, handle, n)]
    return Counter(_far_end(nvml, handle, n) for n in active)


def _far_end(nvml: Any, handle: Any, link: int) -> str:
    kind = _ask(nvml, nvml.nvmlDeviceGetNvLinkRemoteDeviceType, handle, link)
    if kind == nvml.NVML_NVLINK_DEVICE_TYPE_SWITCH:
        return SWITCH  # of which a machine has several, each joined to every GPU
    pci = _ask(nvml, nvml.nvmlDeviceGetNvLinkRemotePciInfo, handle, link)
    return _bus(pci) if pci else "unknown"


Gpu = tuple[str, Any, Counter[str]]  # bus id, handle, NVLink connections


def _joined(nvml: Any, a: Gpu, b: Gpu) -> tuple[int, bool]:
    """NVLink connections of two GPUs, and whether they go through NVSwitch."""
    direct = a[2][b[0]]
    through = min(a[2][SWITCH], b[2][SWITCH])
    if direct or not through:
        return direct, False
    # Links to a switch can be up while the fabric does not (yet) carry traffic between the two.
    status = _ask(nvml, nvml.nvmlDeviceGetP2PStatus, a[1], b[1], nvml.NVML_P2P_CAPS_INDEX_NVLINK)
    works = status == nvml.NVML_P2P_STATUS_OK
    return (through, True) if works else (0, False)
