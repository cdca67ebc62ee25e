"""Initial pressures on ranks: each has the bits of all points, smoothed or not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from thread_ranks import run_on_threads
from ultrasound_cases import build

from groundswell.exchange.communicator import Communicator
from groundswell.solvers.ultrasound.medium import take
from groundswell.solvers.ultrasound.setup import prepare
from groundswell.solvers.ultrasound.window import Window

AT = ["6 mm", "5 mm"]
SECTIONS: dict[str, dict[str, Any]] = {
    "ball": {"kind": "ball", "centre": AT, "radius": "2 mm", "pressure": 2.0},
    "gaussian": {"kind": "gaussian", "centre": AT, "width": "1 mm", "pressure": -2.0},
    "array": {"kind": "array", "values": np.random.default_rng(1).normal(size=(40, 50))},
    "integers": {"kind": "array", "values": np.arange(2000, dtype=np.int16).reshape(40, 50)},
    "file": {"kind": "array"},
}


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("name", SECTIONS)
def test_parts_of_ranks_have_the_bits_of_the_whole(tmp_path: Path, name: str, smooth: bool) -> None:
    section = SECTIONS[name] | {"smooth": smooth}
    if name == "file":
        path = tmp_path / "pressure.npy"
        np.save(path, np.random.default_rng(2).normal(size=(40, 50)).astype(np.float32))
        section |= {"file": str(path)}
    case = build(initial=section)
    alone = prepare(case)
    whole = alone.initial
    nx, ny, _ = cells = alone.grid.cells
    halves = [Window(cells, (first, 0, 0), (nx // 2, ny, 1), (4, 0, 0)) for first in (0, nx // 2)]

    def part(job: Communicator) -> Any:
        prepared = prepare(case, job)
        return prepared.initial_in(halves[job.rank]), prepared.implausible_pressure

    for window, (found, implausible) in zip(halves, run_on_threads(2, part), strict=True):
        np.testing.assert_array_equal(found, take(whole, window))
        assert implausible == alone.implausible_pressure
    assert alone.implausible_pressure > 1e8 * np.abs(whole).max()
