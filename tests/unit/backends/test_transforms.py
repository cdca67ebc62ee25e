"""Fourier transforms of real arrays, against NumPy's in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundswell.backends import Backend, open_backend
from groundswell.backends.transforms import spectrum_dtype, spectrum_shape

ROUNDING = {"float32": 1e-6, "float64": 1e-15}  # of the largest value, for a few thousand values
SHAPES = [(8, 6), (7, 5), (4, 6, 10), (5, 3, 7), (13, 1, 11), (2, 1, 2), (16, 27, 25)]


def check(
    backend: Backend, shape: tuple[int, ...], dtype: str, seed: int = 0, axes: int | None = None
) -> None:
    """Both directions, with poisoned targets."""
    values = np.random.default_rng(seed).standard_normal(shape)
    field = backend.to_device(values.astype(dtype))
    spectrum = backend.to_device(np.full(spectrum_shape(shape), np.nan, spectrum_dtype(dtype)))
    back = backend.to_device(np.full(shape, np.nan, dtype))
    transform = backend.real_transform(shape, dtype, axes=axes)
    transform.forward(field, spectrum)()
    last = range(-(axes or len(shape)), 0)
    exact = np.fft.rfftn(values.astype(dtype).astype(float), axes=[*last])
    found = backend.to_host(spectrum)
    assert found.dtype == spectrum_dtype(dtype)
    assert np.abs(found - exact).max() < 10 * ROUNDING[dtype] * np.abs(exact).max()
    assert np.array_equal(backend.to_host(field), values.astype(dtype))
    transform.inverse(spectrum, back)()
    wanted = np.prod([shape[axis] for axis in last]) * values
    assert (
        np.abs(backend.to_host(back) - wanted).max() < 10 * ROUNDING[dtype] * np.abs(wanted).max()
    )


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("shape", SHAPES)
def test_transforms_on_a_cpu_are_those_of_numpy(shape: tuple[int, ...], dtype: str) -> None:
    check(open_backend("cpu"), shape, dtype)


@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("axes", [1, 2])
def test_transforms_of_rows_on_a_cpu_are_those_of_numpy(axes: int, dtype: str) -> None:
    check(open_backend("cpu"), (5, 3, 14), dtype, axes=axes)


@given(st.lists(st.integers(1, 12), min_size=2, max_size=3), st.integers(0, 99))
@settings(max_examples=30)
def test_any_shape_can_be_transformed(shape: list[int], seed: int) -> None:
    check(open_backend("cpu"), tuple(shape), "float64", seed)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("shape", SHAPES)
def test_transforms_on_a_gpu_are_those_of_numpy(
    gpu: Any, shape: tuple[int, ...], dtype: str
) -> None:
    check(gpu, shape, dtype)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ROUNDING)
@pytest.mark.parametrize("axes", [1, 2])
def test_transforms_of_rows_on_a_gpu_are_those_of_numpy(gpu: Any, axes: int, dtype: str) -> None:
    check(gpu, (5, 3, 14), dtype, axes=axes)


@pytest.mark.gpu
def test_a_graph_of_transforms_replays_them(gpu: Any) -> None:
    shape = (12, 10, 14)
    values = np.random.default_rng(1).standard_normal(shape)
    field = gpu.to_device(values)
    spectrum = gpu.zeros(spectrum_shape(shape), "complex128")
    transform = gpu.real_transform(shape, "float64")
    there, back = transform.forward(field, spectrum), transform.inverse(spectrum, field)

    def both() -> None:
        there()
        back()

    gpu.capture(both).replay(3)
    wanted = float(values.size) ** 3 * values
    assert np.abs(gpu.to_host(field) - wanted).max() < 1e-14 * np.abs(wanted).max()
