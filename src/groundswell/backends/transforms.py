"""Discrete Fourier and cosine transforms of real arrays on CPUs (SciPy) and GPUs (cuFFT).

Fourier transforms run over all axes or the last ones, and none is scaled: the inverse of a
transform is the array times the number of values along these axes. The spectrum has the
non-negative wavenumbers of the last axis only.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import DTypeLike

from groundswell.arrays import DeviceArray
from groundswell.backends.launch import HostCall, Launch

if TYPE_CHECKING:
    import cupy

    from groundswell.backends.streams import Streams


class RealTransform(Protocol):
    """Transforms between a real array and its spectrum."""

    def forward(self, values: DeviceArray, spectrum: DeviceArray) -> Launch:
        """A launch that enqueues the transform of `values`, which it does not change."""
        ...

    def inverse(self, spectrum: DeviceArray, values: DeviceArray) -> Launch:
        """A launch that enqueues the inverse transform; `spectrum` is undefined afterwards."""
        ...


def spectrum_shape(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Shape of the spectrum of a real array."""
    return (*shape[:-1], shape[-1] // 2 + 1)


def spectrum_dtype(dtype: DTypeLike) -> np.dtype:
    """Complex type with the precision of a real type."""
    return np.result_type(np.dtype(dtype), np.complex64)


class CpuTransform:
    """Transforms by SciPy, which allocates each result; it is then copied.

    Args:
        shape: shape of the real array.
        threads: number of threads.
        axes: number of its last axes that are transformed; by default all.
    """

    def __init__(self, shape: tuple[int, ...], threads: int, axes: int | None = None) -> None:
        from scipy import fft

        count = axes or len(shape)
        self._fft, self._threads = fft, threads
        self._sizes, self._axes = shape[-count:], tuple(range(-count, 0))

    def forward(self, values: DeviceArray, spectrum: DeviceArray) -> Launch:
        return _named("forward_transform", self._forward, values, spectrum)

    def _forward(self, values: DeviceArray, spectrum: DeviceArray) -> None:
        spectrum[...] = self._fft.rfftn(values, axes=self._axes, workers=self._threads)

    def inverse(self, spectrum: DeviceArray, values: DeviceArray) -> Launch:
        return _named("inverse_transform", self._inverse, spectrum, values)

    def _inverse(self, spectrum: DeviceArray, values: DeviceArray) -> None:
        options = {"norm": "forward", "overwrite_x": True, "workers": self._threads}
        values[...] = self._fft.irfftn(spectrum, self._sizes, self._axes, **options)


class CudaTransform:
    """Transforms by cuFFT.

    Args:
        shape: shape of the real array.
        dtype: its type.
        axes: number of its last axes that are transformed, up to three; by default all.
    """

    def __init__(
        self,
        cupy: ModuleType,
        streams: Streams,
        shape: tuple[int, ...],
        dtype: DTypeLike,
        axes: int | None = None,
    ) -> None:
        self._cufft, self._streams = cupy.cuda.cufft, streams
        single = np.dtype(dtype) == np.float32
        forward, inverse = ("R2C", "C2R") if single else ("D2Z", "Z2D")
        first = len(shape) - (axes or len(shape))
        self._batch, sizes = int(np.prod(shape[:first])), shape[first:]
        spectrum = spectrum_shape(sizes)
        with streams.current:
            self._forward = self._plan(sizes, sizes, spectrum, forward)
            self._inverse = self._plan(sizes, spectrum, sizes, inverse)

    def _plan(
        self, shape: tuple[int, ...], source: tuple[int, ...], target: tuple[int, ...], kind: str
    ) -> cupy.cuda.cufft.PlanNd:
        return self._cufft.PlanNd(
            shape=shape,
            inembed=source,
            istride=1,
            idist=int(np.prod(source)),
            onembed=target,
            ostride=1,
            odist=int(np.prod(target)),
            fft_type=getattr(self._cufft, f"CUFFT_{kind}"),
            batch=self._batch,
            order="C",
            last_axis=-1,
            last_size=None,
        )

    def forward(self, values: DeviceArray, spectrum: DeviceArray) -> Launch:
        return _named("forward_transform", self._run_forward, values, spectrum)

    def _run_forward(self, values: DeviceArray, spectrum: DeviceArray) -> None:
        with self._streams.current:
            self._forward.fft(values, spectrum, self._cufft.CUFFT_FORWARD)

    def inverse(self, spectrum: DeviceArray, values: DeviceArray) -> Launch:
        return _named("inverse_transform", self._run_inverse, spectrum, values)

    def _run_inverse(self, spectrum: DeviceArray, values: DeviceArray) -> None:
        with self._streams.current:
            self._inverse.fft(spectrum, values, self._cufft.CUFFT_INVERSE)


class CosineTransform(Protocol):
    """Orthonormal cosine transforms (type 2) over all axes of an array, in `Backend.arithmetic`."""

    def forward(self, values: DeviceArray) -> DeviceArray:
        """The coefficients of the modes, in a new array."""
        ...

    def inverse(self, modes: DeviceArray) -> DeviceArray:
        """The values of these coefficients, in a new array."""
        ...


class CpuCosineTransform:
    """Cosine transforms by SciPy.

    Args:
        threads: number of threads.
    """

    def __init__(self, threads: int) -> None:
        from scipy import fft

        self._fft, self._options = fft, {"type": 2, "norm": "ortho", "workers": threads}

    def forward(self, values: DeviceArray) -> DeviceArray:
        return np.asarray(self._fft.dctn(values, **self._options))

    def inverse(self, modes: DeviceArray) -> DeviceArray:
        return np.asarray(self._fft.idctn(modes, **self._options))


class CudaCosineTransform:
    """Cosine transforms by CuPy, which reduces them to those of cuFFT."""

    def __init__(self) -> None:
        from cupyx.scipy import fft

        self._fft = fft

    def forward(self, values: DeviceArray) -> DeviceArray:
        found: cupy.ndarray = self._fft.dctn(values, type=2, norm="ortho")
        return found

    def inverse(self, modes: DeviceArray) -> DeviceArray:
        found: cupy.ndarray = self._fft.idctn(modes, type=2, norm="ortho")
        return found


def _named(
    name: str,
    function: Callable[[DeviceArray, DeviceArray], None],
    source: DeviceArray,
    target: DeviceArray,
) -> Launch:
    return HostCall(name, function, source, target, reads=(source,), writes=(target,))
