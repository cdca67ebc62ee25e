"""Seismograms from strain Green tensors, against convolutions in the time domain."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from green_tensors import DT, convolved, make_sources, make_tensor

from groundswell.backends import Backend, open_backend
from groundswell.errors import InputError
from groundswell.seismology.green.slip import SLIP_RATES, PointFinder, SlipRows
from groundswell.seismology.green.synthesis import Variations, seismograms, variations
from groundswell.seismology.sources.point_sources import PointSource

STARTS = (0.0, 0.13, 0.3)
ROUNDING = {"float32": 2e-6, "float64": 1e-14}


def rows_of(tensor: Any, sources: list[PointSource]) -> SlipRows:
    return SlipRows.of(sources, PointFinder(tensor))


def relative(found: Any, exact: Any) -> float:
    return float(np.abs(found - exact).max() / np.abs(exact).max())


def check_own_rates(backend: Backend, dtype: str) -> None:
    tensor, sources = make_tensor(), make_sources(STARTS)
    found = seismograms(tensor, rows_of(tensor, sources), backend, dtype)
    assert found.dtype == dtype
    assert relative(found.values, convolved(tensor, sources)) < ROUNDING[dtype]
    assert found["time"].values == pytest.approx(DT * (np.arange(240) - 20))


@pytest.mark.parametrize("dtype", ROUNDING)
def test_the_rates_of_a_rupture_are_convolved_with_its_tensor(dtype: str) -> None:
    check_own_rates(open_backend("cpu"), dtype)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ROUNDING)
def test_a_gpu_computes_the_same(gpu: Any, dtype: str) -> None:
    check_own_rates(gpu, dtype)


def test_sources_may_start_before_time_0_and_between_steps() -> None:
    tensor = make_tensor()
    sources = make_sources((-0.157, 0.0013, 0.1))
    found = seismograms(tensor, rows_of(tensor, sources), open_backend("cpu"), "float64")
    assert found["time"].values[0] == pytest.approx(-20 * DT - 0.16)
    assert relative(found.values, convolved(tensor, sources, first=-16)) < 1e-13


def test_nothing_returns_from_the_end_of_a_transform() -> None:
    """A source that lasts until the end, and a response that does, too."""
    tensor = make_tensor(samples=100)
    tensor["strain"] = tensor["strain"] + 1.0
    long = replace(make_sources((0.0,))[0], samples=np.ones(100))
    found = seismograms(tensor, rows_of(tensor, [long]), open_backend("cpu"), "float64")
    assert relative(found.values, convolved(tensor, [long])) < 1e-13


def test_slip_after_the_end_of_the_seismograms_is_an_error() -> None:
    """It would be lost."""
    tensor = make_tensor(samples=100)
    seismograms(tensor, rows_of(tensor, make_sources((0.0, 99 * DT))), open_backend("cpu"))
    for starts in ((0.0, 102 * DT), (-101 * DT, 0.0)):
        rows = rows_of(tensor, make_sources(starts))
        with pytest.raises(InputError, match=r"slip begins .* but the seismograms last only"):
            seismograms(tensor, rows, open_backend("cpu"))


def test_samples_may_be_further_apart_than_steps() -> None:
    fine, coarse, sources = make_tensor(), make_tensor(samples=80, every=3), make_sources(STARTS)
    found = seismograms(coarse, rows_of(coarse, sources), open_backend("cpu"), "float64")
    assert relative(found.values, convolved(fine, sources)[:, ::3]) < 1e-6


def test_shear_strains_of_the_plane_are_enough_for_slip_on_it() -> None:
    from groundswell.seismology.sources.moment import double_couple

    tensor = make_tensor(shear=True)
    given = make_sources(STARTS)
    sources = [
        replace(source, moment=double_couple(30.0, 70.0, rake, 1e15))
        for source, rake in zip(given, (10.0, 170.0, -90.0), strict=True)
    ]
    found = seismograms(tensor, rows_of(tensor, sources), open_backend("cpu"), "float64")
    assert relative(found.values, convolved(tensor, sources)) < 1e-13


# --- variations -----------------------------------------------------------------------------------

ONSETS = np.array([[0.1, 0.25, 0.3], [0.0, 0.02, 0.4]])
RISES = np.array([[0.23, 0.41, 0.52], [0.37, 0.3, 0.25]])
SCALES = np.array([[1.0, 2.0, 0.5], [0.1, 1.0, 1.0]])


def by_quadrature(tensor: Any, rows: SlipRows, shape: str, n: int) -> Any:
    """The continuous convolution with the strain between samples, which is band-limited.

    The slip rate has corners, so it is integrated with 40 points in a step.
    """
    fine, samples = 40, tensor.sizes["time"]
    padded = np.zeros((3, len(rows.points), samples * 2))
    for row, (point, of) in enumerate(zip(rows.points, rows.coefficients, strict=True)):
        padded[:, row, :samples] = np.einsum("k,ckt->ct", of, tensor["strain"].values[:, point])
    spectrum = np.fft.rfft(padded, axis=-1)
    dense = fine * np.fft.irfft(spectrum, 2 * samples * fine, axis=-1)[..., : samples * fine]
    total, when = np.zeros((3, samples)), DT / fine * np.arange(samples * fine)
    for row in range(len(rows.points)):
        function = SLIP_RATES[shape](rise=float(RISES[n, row]), onset=float(ONSETS[n, row]))
        rates = SCALES[n, row] * function(when) * DT / fine
        length = 2 * samples * fine
        product = np.fft.rfft(rates, length) * np.fft.rfft(dense[:, row], length, axis=-1)
        total += np.fft.irfft(product, length)[:, : samples * fine : fine]
    return total


def check_shape(backend: Backend, shape: str, dtype: str, limit: float) -> None:
    tensor, sources = make_tensor(), make_sources(STARTS)
    rows = rows_of(tensor, sources)
    varied = Variations(ONSETS, SCALES, RISES, shape)
    found = variations(tensor, rows, varied, backend, dtype).values
    for n in range(2):
        assert relative(found[n], by_quadrature(tensor, rows, shape, n)) < limit


@pytest.mark.parametrize("shape", SLIP_RATES)
@pytest.mark.parametrize("dtype", ROUNDING)
def test_variations_have_slip_rates_of_a_shape(shape: str, dtype: str) -> None:
    check_shape(open_backend("cpu"), shape, dtype, 2e-5)


@pytest.mark.gpu
@pytest.mark.parametrize("shape", SLIP_RATES)
@pytest.mark.parametrize("dtype", ROUNDING)
def test_a_gpu_computes_the_same_variations(gpu: Any, shape: str, dtype: str) -> None:
    check_shape(gpu, shape, dtype, 2e-5)


def test_variations_of_the_own_rates_move_and_scale_them() -> None:
    tensor, sources = make_tensor(), make_sources(STARTS)
    rows = rows_of(tensor, sources)
    moved = np.array([[0.2, 0.0, 0.13], [0.5, 0.6, 0.1]])
    scales = np.array([[2.0], [-0.5]])
    varied = Variations(moved, scales, np.ones((2, 1)))
    found = variations(tensor, rows, varied, open_backend("cpu"), "float64")
    for n in range(2):
        there = [replace(s, start=float(t)) for s, t in zip(sources, moved[n], strict=True)]
        assert relative(found[n].values, scales[n] * convolved(tensor, there)) < 1e-13


def test_variations_in_parts_are_those_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from groundswell.seismology.green import synthesis

    tensor, sources = make_tensor(), make_sources(STARTS)
    rows, varied = rows_of(tensor, sources), Variations(ONSETS, SCALES, RISES, "cosine")
    whole = variations(tensor, rows, varied, open_backend("cpu"))
    monkeypatch.setattr(synthesis, "CHUNK_BYTES", 1)
    parts = variations(tensor, rows, varied, open_backend("cpu"))
    assert np.array_equal(whole.values, parts.values)
