"""Memory bandwidths that earlier runs have measured, kept in the user's cache.

A program that uses the memory during a measurement lowers the result, and nothing raises it. The
largest of several results therefore counts, and a single one is not trusted: runs measure until two
results agree. A result counts for a week, in which a machine and its use may change.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from groundswell.backends import Backend
from groundswell.backends.cache import default_folder
from groundswell.errors import GroundswellError
from groundswell.exchange.communicator import Communicator
from groundswell.formats.atomic import atomic_write
from groundswell.version import __version__

AGREEMENT = 0.1  # relative difference of two results that agree
MOST = 5  # measurements on a machine that is too busy for two results that agree
VALID = 7 * 24 * 3600.0  # s after the first measurement
PREFIX = "bandwidth-"


def describe_device(backend: Backend) -> list[str]:
    """What the bandwidth of a device depends on: its name, threads, memory and software."""
    versions = [f"{name} {version}" for name, version in sorted(backend.versions().items())]
    return [backend.name, backend.device, str(backend.memory_info()[1]), *versions, __version__]


@dataclass(frozen=True)
class KeptBandwidth:
    """The bandwidth of devices that ranks use together, in a file of the user's cache.

    Args:
        devices: those of all ranks; see `describe_device`.
        folder: of the cache.
    """

    devices: Sequence[Sequence[str]]
    folder: Path

    @classmethod
    def of(cls, devices: Sequence[Sequence[str]]) -> KeptBandwidth:
        """In the user's cache."""
        return cls(devices, default_folder())

    @property
    def path(self) -> Path:
        """The file."""
        key = sha256(json.dumps(self.devices).encode()).hexdigest()
        return self.folder / f"{PREFIX}{key}.json"

    def read(self) -> float | None:
        """The bandwidth, bytes/s; None if it must be measured."""
        _, rates = self._stored()
        best = max(rates, default=0.0)
        agree = sum(rate >= (1 - AGREEMENT) * best for rate in rates)
        return best if agree > 1 or len(rates) >= MOST else None

    def add(self, rate: float, *, again: bool = False) -> float:
        """Store a new result, bytes/s; returns the largest.

        A cache that cannot be written is no error: later runs measure again.

        Args:
            again: whether the new result replaces all others.
        """
        since, rates = (time.time(), []) if again else self._stored()
        rates = [*rates, rate]
        with suppress(GroundswellError, OSError):
            _remove_old(self.folder)
            with atomic_write(self.path) as part:
                part.write_text(json.dumps({"since": since, "rates": rates}), encoding="utf-8")
        return max(rates)

    def _stored(self) -> tuple[float, list[float]]:
        """The time of the first measurement, and the results; now and none if these are old."""
        now = time.time()
        with suppress(OSError, ValueError, LookupError, TypeError):
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            since, rates = float(stored["since"]), [float(rate) for rate in stored["rates"]]
            if 0 <= now - since < VALID and all(0 < rate < float("inf") for rate in rates):
                return since, rates
        return now, []


def _remove_old(folder: Path) -> None:
    """Delete files of machines that have not been measured for a long time."""
    for path in folder.glob(f"{PREFIX}*.json"):
        with suppress(OSError):  # another process may have deleted it
            if time.time() - path.stat().st_mtime > VALID:
                path.unlink()


def kept_bandwidth(backend: Backend, *, again: bool = False) -> float:
    """The memory bandwidth of a device that one process uses, bytes/s; measured if necessary.

    Args:
        again: whether to measure in any case.
    """
    kept = KeptBandwidth.of([describe_device(backend)])
    known = None if again else kept.read()
    return known or kept.add(backend.measure_bandwidth(), again=again)


def shared_bandwidth(backend: Backend, job: Communicator, *, again: bool = False) -> float:
    """The memory bandwidth of the devices of all ranks together, bytes/s; collective.

    Rank 0 reads and writes the cache.

    Args:
        again: whether to measure in any case.
    """
    kept = KeptBandwidth.of(job.allgather(describe_device(backend)))
    known: float | None = job.bcast(kept.read() if job.first and not again else None)
    if known:
        return known
    # All ranks measure together, because those of one host share its bandwidth.
    rate = float(sum(job.allgather(backend.measure_bandwidth())))
    best: float = job.bcast(kept.add(rate, again=again) if job.first else None)
    return best
