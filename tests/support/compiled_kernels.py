"""Kernels through NVRTC, and the limits that their resources keep to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest
from register_limits import LIMITS, OLDER_SPILLS, SPILLS

from groundswell.backends import Source

nvrtc = pytest.importorskip("groundswell.backends.nvrtc")
pytest.importorskip("cuda.bindings.nvrtc", reason="needs nvidia-cuda-nvrtc and cuda-core")

Check = Callable[..., None]
OLDER = ("sm_80",)


@cache
def kernels_of(text: str, architecture: str) -> list[Any]:
    """The resources of each kernel of a source."""
    found: list[Any] = nvrtc.compile_cubin(text, architecture)[1]
    assert found, "the compiler reported no kernel"
    return found


def require_limits(
    architecture: str,
    source: Source,
    precision: str,
    limits: Mapping[str, tuple[int, int]] = LIMITS,
    spills: Mapping[str, int] = SPILLS,
) -> None:
    """No kernel of a source takes more than its limits allow, and each has one."""
    column = ("single", "double").index(precision)
    allowed = {**spills, **(OLDER_SPILLS if architecture in OLDER else {})}
    for found in kernels_of(source.text(), architecture):
        name, most = found.kernel, limits[found.kernel][column]
        assert found.registers <= most, f"{name}: {found.registers} registers, limit {most}"
        spilled, most = found.spill_bytes, allowed.get(name, 0)
        assert spilled <= most, f"{name}: {spilled} bytes spilled, limit {most}"
