"""Kernels through NVRTC, and the limits that their resources keep to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from kept_reports import kept_report
from register_limits import LIMITS, OLDER_SPILLS, SPILLS

from groundswell.backends import Source

nvrtc = pytest.importorskip("groundswell.backends.nvrtc")
pytest.importorskip("cuda.bindings.nvrtc", reason="needs nvidia-cuda-nvrtc and cuda-core")

Check = Callable[..., None]
OLDER = ("sm_80",)


@cache
def kernels_of(text: str, architecture: str) -> list[Any]:
    """The resources of each kernel of a source."""

    def compiled() -> list[dict[str, Any]]:
        return [asdict(found) for found in nvrtc.compile_cubin(text, architecture)[1]]

    options = Path(nvrtc.__file__).read_text()
    found = kept_report(compiled, text, architecture, nvrtc.version(), options)
    assert found, "the compiler reported no kernel"
    return [nvrtc.Resources(**kernel) for kernel in found]


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
