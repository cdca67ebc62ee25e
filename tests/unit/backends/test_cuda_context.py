"""The context of a GPU that another thread creates."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from groundswell.backends import cuda_context, start_backend


class Driver:
    """A stand-in for the driver, with the results of its calls."""

    def __init__(self, *results: int) -> None:
        self._results, self.calls = iter(results), list[str]()

    def __getattr__(self, name: str) -> Any:
        def call(*_: object) -> int:
            self.calls.append(name)
            return next(self._results)

        return call


@pytest.mark.parametrize(
    ("results", "calls"),
    [
        ([0, 0, 0], ["cuInit", "cuDeviceGet", "cuDevicePrimaryCtxRetain"]),
        ([100], ["cuInit"]),
        ([0, 101], ["cuInit", "cuDeviceGet"]),
    ],
)
def test_the_calls_of_the_driver(
    monkeypatch: pytest.MonkeyPatch, results: list[int], calls: list[str]
) -> None:
    driver = Driver(*results)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: driver)
    cuda_context.start_context().join()
    assert driver.calls == calls


def test_no_driver_and_no_gpu_are_no_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    cuda_context.start_context().join()
    start_backend("cpu")
    start_backend("cuda")


@pytest.mark.gpu
def test_a_backend_uses_the_context(gpu: Any) -> None:
    cuda_context.start_context().join()
    assert gpu.to_host(gpu.zeros((3,), "float32")).tolist() == [0, 0, 0]
