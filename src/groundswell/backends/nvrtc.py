"""CUDA's run-time compiler. It needs no driver, so any machine can compile all kernels."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from types import ModuleType

from groundswell.backends.cache import KernelCache
from groundswell.backends.compilation import compilations
from groundswell.backends.source import digest
from groundswell.errors import BackendError, install

STANDARD = "c++17"
FLAGS = ("ptxas -v", "fmad=false", STANDARD)  # see FMA in include/portable.h

_ENTRY = re.compile(r"Compiling entry function '(\w+)'")
_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")


@dataclass(frozen=True)
class Resources:
    """Resources of a kernel as reported by ptxas.

    Attributes:
        kernel: its name.
        registers: per thread.
        spill_bytes: bytes of spill stores and loads.
    """

    kernel: str
    registers: int
    spill_bytes: int


def compile_cubin(text: str, architecture: str) -> tuple[bytes, list[Resources]]:
    """Machine code for an architecture, such as "sm_90", and the resources of each kernel.

    Raises:
        BackendError: NVRTC is missing, or the source does not compile (the message contains
            NVRTC's output).
    """
    core = _core()
    options = core.ProgramOptions(std=STANDARD, arch=architecture, fma=False, ptxas_options=["-v"])
    log = io.StringIO()
    try:
        compiled = core.Program(text, "c++", options).compile("cubin", logs=log)
    except Exception as error:  # the exception types of cuda.core differ between releases
        raise BackendError(f"NVRTC could not compile a kernel:\n{error}") from error
    return bytes(compiled.code), parse_resources(log.getvalue())


def compile_cached(kernel_cache: KernelCache, text: str, architecture: str) -> Path:
    """Path of the cubin in the cache; compiles it if necessary."""
    key = digest(text, architecture, version(), *FLAGS)

    def build(out: Path) -> None:
        with compilations.counted():
            out.write_bytes(compile_cubin(text, architecture)[0])

    return kernel_cache.get(f"{key}.cubin", build)


def parse_resources(log: str) -> list[Resources]:
    """Registers and spills of each kernel from the output of ptxas."""
    found = []
    for part in _ENTRY.split(log)[1:]:
        if not _REGISTERS.search(part):
            name = part
            continue
        spills = _SPILLS.search(part)
        registers = _REGISTERS.search(part)
        spilled = sum(map(int, spills.groups())) if spills else 0
        found.append(Resources(name, int(registers[1]) if registers else 0, spilled))
    return found


@cache
def version() -> str:
    """Version of NVRTC, which is part of every cache key."""
    try:
        from cuda.bindings import nvrtc
    except ImportError as error:
        raise BackendError(_MISSING) from error
    _, major, minor = nvrtc.nvrtcVersion()
    return f"{major}.{minor}"


_MISSING = f"CUDA's run-time compiler is not installed; {install('cuda13')} (or cuda12)"


_LOADING = Lock()  # without it, another thread could see a partially imported package


def _core() -> ModuleType:
    with _LOADING:
        try:
            import cuda.core as core
        except ImportError as error:
            raise BackendError(_MISSING) from error
        return core if hasattr(core, "Program") else core.experimental
