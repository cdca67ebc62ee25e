"""A backend that runs kernels for GPUs on a CPU: tests need no GPU. See cuda_emulation.h."""

from __future__ import annotations

import atexit
import ctypes
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from groundswell.backends import Blocks, Source, cpu
from groundswell.backends.cache import KernelCache, default_folder
from groundswell.backends.cpu import CpuBackend
from groundswell.backends.named_arguments import ParameterNames
from groundswell.backends.source import digest

EMULATED = Path(__file__).with_name("cuda_emulation.h")
PRELUDE = """
using std::min;
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) double2 {
  double x, y;
};
template <class T> T __ldcg(const T* address) { return *address; }
template <class T> void __stcg(T* address, T value) { *address = value; }
template <class T> void __stcs(T* address, T value) { *address = value; }
inline void __threadfence() {}
inline unsigned atomicAdd(unsigned* address, unsigned value) {
  return (*address += value) - value;
}
inline unsigned atomicMax(unsigned* address, unsigned value) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  const unsigned before = *address;
  *address = std::max(before, value);
  return before;
}
inline float __double2float_ru(double x) {
  const float rounded = static_cast<float>(x);
  return rounded < x ? std::nextafterf(rounded, INFINITY) : rounded;
}
"""
CALL = """
#include <utility>
template <class... A, std::size_t... N>
bool call(void (*kernel)(A...), const unsigned* size, void** a, std::index_sequence<N...>) {
  return launch(size[0], size[1], size[2], [=] { kernel(*static_cast<A*>(a[N])...); });
}
template <class... A>
bool call(void (*kernel)(A...), const unsigned* size, void** a) {
  return call(kernel, size, a, std::index_sequence_for<A...>{});
}
"""
RUN = 'extern "C" bool run_{0}(const unsigned* size, void** a) {{ return call({0}, size, a); }}\n'


FLAGS = "-std=c++20 -O0 -fPIC -pthread -w -ffp-contract=off -fno-gnu-unique".split()
# The C library has functions of names such as `advance`.
LINKED = ("-shared", "-Wl,-Bsymbolic")


@cache
def precompiled_header() -> Path:
    """A copy of the emulation, compiled in advance: its headers take longer than most kernels."""
    folder = tempfile.mkdtemp(prefix="groundswell-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    header = Path(shutil.copy(EMULATED, folder))
    command = [cpu._compiler(), *FLAGS, "-x", "c++-header", str(header), "-o", f"{header}.gch"]
    subprocess.run(command, check=True, timeout=120)
    return header


class EmulatedBackend(CpuBackend):
    """Runs kernels that are written for GPUs alone; the threads of a block take turns.

    Args:
        bulk_copy: whether the GPU has bulk copies, as those since sm_90 do.
    """

    def __init__(self, *, bulk_copy: bool = True) -> None:
        super().__init__()
        self._bulk_copy = bulk_copy

    def compile(self, source: Source) -> Any:
        """Compile the kernels of a source, unless the cache has them."""
        return EmulatedModule(source, "" if self._bulk_copy else "-DHAS_BULK_COPY=0")


class EmulatedModule:
    """Compiled kernels."""

    def __init__(self, source: Source, option: str = "") -> None:
        text, self._names = source.text(), ParameterNames(source)
        names = [
            line.split()[1].split("(")[0] for line in text.splitlines() if "KERNEL " in line[:7]
        ]
        text = text.replace("extern __shared__ __align__(128) double dynamic_shared_memory[];", "")
        text = re.sub(r"asm volatile\(\"prefetch[^;]*;[^;]*;", "", text)
        text = PRELUDE + text + CALL + "".join(RUN.format(name) for name in names)
        command = [cpu._compiler(), *FLAGS, *LINKED, *option.split(), "-x", "c++", "-"]

        def build(path: Path) -> None:
            whole = [*command, "-include", str(precompiled_header()), "-o", str(path)]
            subprocess.run(whole, input=text, text=True, check=True, timeout=120)

        key = digest(text, EMULATED.read_text(), *command, cpu._version(command[0]))
        # A copy, because each module has its own constants and shared memory.
        self._library = cpu._load_copy(KernelCache(default_folder()).get(f"{key}.so", build))

    def launch(
        self, name: str, extent: Any, /, *arguments: Any, **named: Any
    ) -> Callable[[], None]:
        """A launch of a kernel."""
        arguments = self._names.in_order(name, arguments, named)
        size = (-(-extent.count // 32), 32, 0)
        if isinstance(extent, Blocks):
            size = (extent.count, extent.threads, extent.shared_bytes)
        values = [ctypes.c_longlong(a if isinstance(a, int) else a.ctypes.data) for a in arguments]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
        run = getattr(self._library, f"run_{name}")
        run.restype = ctypes.c_bool

        def launched() -> None:
            assert arguments and values  # which the launch keeps alive
            assert run((ctypes.c_uint * 3)(*size), pointers), f"{name} needs more shared memory"

        return launched
