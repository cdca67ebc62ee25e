"""Pennes' equation and the thermal dose on a CPU and on a GPU: equal but for rounding."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from heat_cases import MEDIA, treated_on
from numpy.testing import assert_allclose
from ultrasound_cases import ARC

import groundswell as gs
from groundswell.backends import Backend, open_backend

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("medium", MEDIA)
def test_treatments_agree_to_rounding(gpu: Backend, medium: str) -> None:
    found, wanted = (treated_on(backend, medium) for backend in (gpu, open_backend("cpu")))
    assert wanted.largest.max() > 50 and wanted.dose.max() > 240
    for name in ("last", "largest", "hottest"):
        assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-12)
    assert_allclose(found.dose, wanted.dose, rtol=1e-10)  # the exponential of temperatures


@pytest.mark.parametrize("shape", [(6, 7, 8), (1, 12, 9), (13, 1, 11)])
def test_cosine_transforms_agree_and_are_inverse(gpu: Backend, shape: tuple[int, ...]) -> None:
    values = np.random.default_rng(1).standard_normal(shape)
    with gpu.arithmetic():
        transform = gpu.cosine_transform()
        modes = transform.forward(gpu.to_device(values))
        found = gpu.to_host(modes), gpu.to_host(transform.inverse(modes))
    wanted = open_backend("cpu").cosine_transform().forward(values)
    assert_allclose(found[0], wanted, atol=1e-14 * np.abs(wanted).max() * values.size**0.5)
    assert_allclose(found[1], values, atol=1e-14 * values.size**0.5)


def test_results_heat_on_a_gpu(gpu: Backend, tmp_path: Path) -> None:
    """A run's own results, with bone, through the method of `Result`."""
    medium = {"speed": 1500.0, "density": 1000.0, "absorption": 2.0, "power": 2}
    bone = {"kind": "layer", "axis": "x", "from": 7e-3, "speed": 2400.0, "density": 1900.0}
    sine = {"kind": "sine", "frequency": 1e6}
    result = gs.ultrasound.simulate(
        {**medium, "shape": [bone]},
        [{"shape": ARC, "pressure": 1e6, "signal": sine}],
        points=(40, 40),
        spacing=0.25e-3,
        duration="8 us",
        folder=tmp_path / "results",
    )
    found, wanted = (
        result.heat(5.0, 5.0, bone=gs.ultrasound.BONE, backend=backend)
        for backend in ("cuda", "cpu")
    )
    for name in ("temperature", "temperature_max", "dose", "hottest"):
        assert_allclose(found.fields[name], wanted.fields[name], rtol=1e-10)
