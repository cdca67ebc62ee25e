"""Total memory of the host, memory available to this process, and size of the caches."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from groundswell.backends.cgroups import control_groups

PROCESSORS = Path("/sys/devices/system/cpu")


def host_memory() -> tuple[int, int]:
    """Memory available to this process and total memory of the host, bytes."""
    page = os.sysconf("SC_PAGE_SIZE")
    free = os.sysconf("SC_AVPHYS_PAGES") * page
    if (info := Path("/proc/meminfo")).exists():
        fields = dict(line.split(":") for line in info.read_text().splitlines())
        free = int(fields["MemAvailable"].split()[0]) * 1024
    return min([free, *_available_in_cgroups()]), os.sysconf("SC_PHYS_PAGES") * page


def host_cache(processors: Iterable[int], folder: Path = PROCESSORS) -> int:
    """Size of the last-level caches of some processors, bytes; 0 if unknown.

    Args:
        processors: numbers of the processors; a cache that several of them share counts once.
        folder: the description of processors in sysfs (Linux kernel documentation,
            ABI/testing/sysfs-devices-system-cpu).
    """
    caches: dict[str, int] = {}
    for number in processors:
        caches |= dict(list(_caches(folder / f"cpu{number}" / "cache"))[-1:])
    return sum(caches.values())


def _caches(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the processors that share a cache, and its size (bytes), from the lowest level up."""
    for index in sorted(folder.glob("index*"), key=lambda path: path.name):
        try:
            size = (index / "size").read_text().strip()  # such as 32768K
            shared = (index / "shared_cpu_list").read_text().strip()
            yield shared, int(size.removesuffix("K")) * 1024
        except (OSError, ValueError):
            return


def _available_in_cgroups(*where: Path) -> Iterator[int]:
    """Memory available in each control group of this process, bytes.

    Inactive pages of the file cache count as available.

    Args:
        where: see `control_groups`.
    """
    for group in control_groups("memory", *where):
        yield from _available_in(group, "max", "current")
        yield from _available_in(group, "limit_in_bytes", "usage_in_bytes")  # version 1


def _available_in(group: Path, *names: str) -> Iterator[int]:
    try:
        limit, used = ((group / f"memory.{name}").read_text() for name in names)
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        yield max(0, int(limit) - int(used) + int(stat.get("inactive_file", 0)))
    except (OSError, ValueError):  # no such file, or the limit is "max"
        return
