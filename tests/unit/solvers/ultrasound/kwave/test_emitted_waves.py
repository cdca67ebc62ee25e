"""What is known of the waves of an input file before the run."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
from kwave_files import Example

from groundswell.solvers.ultrasound.kwave.case import KWaveCase
from groundswell.solvers.ultrasound.kwave.command import main_omp
from groundswell.solvers.ultrasound.kwave.setup import prepare

SHAPE, STEPS = (48, 8, 8), 120


@pytest.mark.parametrize("field", ["p", "uz"])
@pytest.mark.parametrize("mode", ["uncorrected", "dirichlet"])
def test_the_emitted_pressure_is_that_of_a_plane(tmp_path: Path, field: str, mode: str) -> None:
    time = np.arange(STEPS)
    signal = 1e-3 * np.sin(time / 6) * np.minimum(time / 40, 1)
    plane = 20 * 64 + np.arange(64)
    content = {"pml": (2, 2, 10), "pml_alpha": (0.0, 0.0, 2.0), "steps": STEPS}
    example = Example(SHAPE, sources=[(field, plane, signal, mode)], **content)
    source, output = example.write(tmp_path / "in.h5"), tmp_path / "out.h5"
    assert main_omp(["-i", str(source), "-o", str(output), "--p_max_all"]) == 0
    with h5py.File(output) as file:
        found = file["p_max_all"][27, 4, 4]
    assert prepare(KWaveCase(file=source)).emitted_pressure == pytest.approx(found, rel=0.05)
