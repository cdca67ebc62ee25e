"""Small files for k-Wave's commands, and what the commands leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kwave_files import Example

from groundswell.solvers.ultrasound.kwave.case import OUTPUTS
from groundswell.solvers.ultrasound.kwave.command import main_omp

Captured = pytest.CaptureFixture[str]
SHAPE = (1, 16, 15)
EVERY_OUTPUT = [f"--{name}" for name in OUTPUTS]


def example(**more: Any) -> Example:
    """A small simulation that uses every kind of dataset."""
    shape, rng = more.pop("shape", SHAPE), np.random.default_rng(5)
    points = rng.choice(int(np.prod(shape)), 4, replace=False)
    signal = rng.standard_normal((6, 4))
    return Example(
        shape,
        speed=1500 + 100 * rng.uniform(size=shape),
        absorbing=1,
        nonlinearity=6.0,
        p0=1e5 * rng.standard_normal(shape),
        sources=[("p", points, signal, "additive"), ("ux", points, 1e-3 * signal, "dirichlet")],
        points=points,
        **more,
    )


def files(source: Path) -> list[str]:
    """Arguments: an input, and an output beside it."""
    return ["-i", str(source), "-o", str(source.with_name("out.h5"))]


def assert_fails(arguments: list[str], capsys: Captured, message: str) -> None:
    """The command fails with one message and leaves no file."""
    before = {path.name for path in Path(arguments[1]).parent.iterdir()}
    assert main_omp(arguments) == 1
    error = capsys.readouterr().err
    assert message in error, error
    assert "Traceback" not in error
    assert {path.name for path in Path(arguments[1]).parent.iterdir()} == before
