"""The solver against exact solutions, itself after a restart, and another device."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import groundswell as gs
from groundswell import registry
from groundswell.cli import main
from groundswell.errors import BackendError


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """What `groundswell new acoustics` writes."""
    path = tmp_path / "case.toml"
    path.write_text(registry.find("acoustics").read_template())
    return path


def pressure_after(steps: int, case: Path, backend: str = "cpu") -> np.ndarray:
    with gs.Simulation(case, backend) as simulation:
        simulation.advance(steps)
        return simulation.gather("p").copy()


def test_results_are_those_of_exact_solutions() -> None:
    assert main(["verify", "acoustics"]) == 0


def test_a_restart_changes_no_bit(case: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.h5"
    with gs.Simulation(case) as simulation:
        simulation.advance(10)
        simulation.checkpoint(state)
    with gs.Simulation(case, restart=state) as simulation:
        simulation.advance(10)
        found = simulation.gather("p")
        assert found.tobytes() == pressure_after(20, case).tobytes()


def test_a_gpu_finds_what_a_cpu_finds(case: Path) -> None:
    try:
        found = pressure_after(20, case, "cuda")
    except BackendError as error:
        pytest.skip(str(error))
    expected = pressure_after(20, case)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * abs(expected).max())
