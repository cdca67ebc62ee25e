"""How much memory the host has, and how much of it this process may still take."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")


def host_memory() -> tuple[int, int]:
    """Bytes that are free, for this process, and bytes that there are."""
    page = os.sysconf("SC_PAGE_SIZE")
    free = os.sysconf("SC_AVPHYS_PAGES") * page
    if (info := Path("/proc/meminfo")).exists():
        fields = dict(line.split(":") for line in info.read_text().splitlines())
        free = int(fields["MemAvailable"].split()[0]) * 1024
    return min([free, *_left_in_groups()]), os.sysconf("SC_PHYS_PAGES") * page


def _left_in_groups(
    membership: Path = Path("/proc/self/cgroup"), groups: Path = GROUPS
) -> Iterator[int]:
    """What batch systems and containers leave to the control groups that this process is in.

    Version 2 of control groups; the kernel's documentation of them explains the files. What the
    file cache holds without need counts as free.
    """
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return
    own = next((line.removeprefix("0::/") for line in lines if line.startswith("0::/")), None)
    for group in [groups / own, *(groups / own).parents] if own is not None else ():
        if group.is_relative_to(groups):
            yield from _left_in(group)


def _left_in(group: Path) -> Iterator[int]:
    try:
        most, taken = ((group / f"memory.{name}").read_text() for name in ("max", "current"))
        stat = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        yield max(0, int(most) - int(taken) + int(stat.get("inactive_file", 0)))
    except (OSError, ValueError):  # no such file, or no limit: "max"
        return
