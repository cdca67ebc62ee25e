"""Control groups: the limits of batch systems and containers on memory and cores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

MEMBERSHIP = Path("/proc/self/cgroup")
MOUNTED = Path("/sys/fs/cgroup")


def control_groups(
    controller: str, membership: Path = MEMBERSHIP, mounted: Path = MOUNTED
) -> Iterator[Path]:
    """Yield the folders of this process's control groups, from the innermost to the root.

    Both versions are read, see cgroups(7). Inside a container, the folder of its group is the root;
    folders that lie outside do not exist there.

    Args:
        controller: "memory" or "cpu".
    """
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers or controller in controllers.split(","):
            root = mounted / controllers
            group = root / path.lstrip("/")
            yield from (folder for folder in (group, *group.parents) if folder.is_relative_to(root))


def cpu_quota(membership: Path = MEMBERSHIP, mounted: Path = MOUNTED) -> float:
    """Number of cores whose time this process may use; infinite without a quota."""
    groups = control_groups("cpu", membership, mounted)
    return min((quota for group in groups for quota in _quotas(group)), default=float("inf"))


def _quotas(group: Path) -> Iterator[float]:
    for names in (["cpu.max"], ["cpu.cfs_quota_us", "cpu.cfs_period_us"]):  # versions 2 and 1
        try:
            granted, period = " ".join((group / name).read_text() for name in names).split()
            if int(granted) > 0:
                yield int(granted) / int(period)
        except (OSError, ValueError):  # no such file, or the quota is "max"
            continue
