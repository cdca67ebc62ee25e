"""A made-up measurement of the exchange on two GPUs, for tables and pictures."""

from __future__ import annotations

from typing import Any

SLOWDOWNS = {"direct": 1.0, "peer": 1.3, "nccl": 2.0, "mpi-gpu": 4.0, "mpi": 60.0}  # times a copy


def fake_measurement() -> dict[str, Any]:
    """A measurement as two GPUs might give it."""
    return {
        "subject": "exchange",
        "backend": "cuda",
        "devices": ["Abacus 9000"] * 2,
        "ranks": 2,
        "seconds": 61.0,
        "links": [
            row(way, seconds=t, faces=faces, bytes=size, rate=faces * size / t, share=1 / slow)
            for size in [4096 * 4**n for n in range(8)]
            for faces in (1, 2)
            for way, slow in {"copy": 1.0, **SLOWDOWNS}.items()
            for t in [slow * (3e-6 + faces * size / 4e11)]
        ],
        "neighbours": [
            row(way, seconds=t, share=8e-6 / t, neighbours=name, bytes=65536, own=8, ranks=1)
            for name in ("6 faces", "26 neighbours", "26, in sweeps")
            for way, slow in SLOWDOWNS.items()
            for t in [1e-5 * slow]
        ],
        "optimisations": [
            row(way, seconds=2e-5 * slow * (4 - n), version=version, grid=grid)
            for grid in ((1, 1, 2), (1, 2, 1), (2, 1, 1))
            for n, version in enumerate(("Baseline", "V1", "V2", "V3"))
            for way, slow in SLOWDOWNS.items()
        ],
        "overlaps": [
            row(way, seconds=1e-5 * slow, speedup=60 / slow, cut=cut, overlap=n)
            for cut in ("1-D", "3-D")
            for n in (2, 4, 8, 16, 32)
            for way, slow in SLOWDOWNS.items()
        ],
        "progress": [row("mpi", bytes=1 << 20, exchange=2e-3, work=2e-3, both=3.5e-3, hidden=0.25)],
        "assembly": [
            {"kind": "gather", "values": 2_000_000, "seconds": 1e-5, "share": 0.87, "setup": 1.5}
            | {"remote": 1.2e-5, "whole": 1.9e-5}
        ],
        "routes": [
            row("direct", route="crystal", bytes=2048, remote=2e-5),
            row("mpi", route="alltoall", bytes=2048, remote=4e-5),
        ],
        "all-pairs": [
            row("direct", route=route, gap=gap, bytes=56, remote=t + n * gap)
            for gap in (0.0, 2e-5)
            for route, t, n in (("pairwise", 1e-5, 7), ("crystal", 3e-5, 3))
        ],
        "paths": [row(way) for way in SLOWDOWNS],
        "gains": [{"grid": (2, 1, 1), "transport": way, "gain": 4.0} for way in SLOWDOWNS],
        "speedups": [{"transport": way, "speedup": 60 / slow} for way, slow in SLOWDOWNS.items()],
        "transports": list(SLOWDOWNS),
        "notes": ["pigeon: it has [flown] away"],
    }


def row(transport: str, **more: Any) -> dict[str, Any]:
    known = {"transport": transport, "path": f"by {transport}", "in_graph": transport != "mpi"}
    return {**known, "seconds": 0.0, "sent": 1 << 20, "processes": (2, 1, 1), **more}


def empty_measurement() -> dict[str, Any]:
    """A measurement in which all failed."""
    parts = ("links", "neighbours", "optimisations", "gains", "overlaps", "speedups", "progress")
    return {
        **fake_measurement(),
        **{part: [] for part in (*parts, "paths", "assembly", "routes", "all-pairs")},
    }
