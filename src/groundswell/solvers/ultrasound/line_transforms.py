"""Plans of the transforms of kernels/fft.h: radices, tables, and how passes divide a grid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from groundswell.arrays import Complexes, Integers
from groundswell.backends import Blocks, Constant
from groundswell.backends.transforms import spectrum_dtype

LARGEST_RADIX = 10
LARGEST_ROW_RADIX = 8  # along x, where a thread may hold the values of three butterflies
ALIGNED = 16  # threads of a row that access whole cache lines
VALUES_PER_THREAD = 16  # largest number along x
PENALTY = 1.2  # relative cost of other numbers of threads
LONGEST = 1024  # most values of a line
# Blocks of longer lines, or of lines above SHORT with more stages, have half as many lines.
SHORT, LONG, MOST_STAGES = 512, 720, 3
MOST_VALUES = 2**31  # limit of the values of a field; kernels count lines with 32 bits
LEAST_BYTES, LANE_BYTES = 32, 64  # contiguous bytes of a segment along x, and of a block of lines
SEGMENT_BYTES = 9_000_000  # a few segments should fit into the L2 cache
MOST_TILES = {"compress_rows": 3}  # of rows in shared memory; 1 in other files
LAG = 64  # tasks in planes.h between a pass and the next one, in addition to a whole segment
T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class Tiling:
    """Largest number of threads of a block, and of blocks that must fit on a multiprocessor."""

    threads: int
    blocks: int

    def of_type(self, value_bytes: int) -> Tiling:
        """The tiling for values of a size; threads need twice the registers in double precision."""
        return self if value_bytes == 8 else Tiling(self.threads, max(self.blocks // 2, 1))


# Tiling of each file of kernels, found by measurement on an H100.
TILINGS = {
    "planes": Tiling(256, 4),
    "transform_rows": Tiling(256, 2),
    "accelerate_rows": Tiling(128, 6),
    "compress_rows": Tiling(128, 4),
}
# File of each kernel that works on rows.
FILES = {
    "accelerate": "accelerate_rows",
    "compress": "compress_rows",
    "forward_density": "compress_rows",
    "find_pressure": "compress_rows",
    "forward_x": "transform_rows",
    "inverse_x": "transform_rows",
    "add_inverse_x": "transform_rows",
    "erase": "transform_rows",
}


@dataclass(frozen=True)
class Plan:
    """A transform of n values as stages of radices whose product is n."""

    radices: tuple[int, ...]

    @property
    def n(self) -> int:
        """Number of values."""
        return prod(self.radices)

    def order(self) -> Integers:
        """Wavenumber at each position of the spectrum, in digit-reversed order, (n,)."""
        order = np.zeros(1, np.int64)
        for radix in reversed(self.radices):
            order = (np.arange(radix)[:, None] + radix * order).reshape(-1)
        return order

    def twiddles(self) -> Complexes:
        """Factors exp(-2 pi i q j / L) between stages, ordered by stage, q and j, (n - 1,)."""
        parts, length = [], self.n
        for radix in self.radices:
            j, q = np.arange(length // radix), np.arange(1, radix)
            parts.append(np.exp(-2j * np.pi * np.outer(q, j) / length).reshape(-1))
            length //= radix
        return np.concatenate(parts)

    def threads(self, most: int) -> int:
        """Threads of a line: one per butterfly of the largest radix, at most `most`."""
        return min(self.n // max(self.radices), max(most, 1))

    def aligned_threads(self, most: int) -> int:
        """Threads of a row: few are idle, and most accesses are to whole cache lines.

        A thread has at most VALUES_PER_THREAD values, which limits the shared memory of a block.
        """
        fewest = max(min(self.n // max(self.radices), ALIGNED), -(-self.n // VALUES_PER_THREAD))
        counts = range(fewest, min(self.n // min(self.radices), most) + 1)
        return min(counts, key=lambda threads: (self._cost(threads), -threads))

    def _cost(self, threads: int) -> float:
        """Values of all butterflies of a row, those of idle threads included, with a penalty."""
        turns = (-(-self.n // (radix * threads)) * radix for radix in self.radices)
        return threads * sum(turns) * (PENALTY if threads % ALIGNED else 1)


def plan(n: int, largest: int = LARGEST_RADIX) -> Plan | None:
    """The plan with the fewest, then smallest radices; None if there is none with two or more."""
    found = [r for r in _factorisations(n, largest) if len(r) > 1]
    return Plan(min(found, key=lambda r: (len(r), sum(r)))[::-1]) if found else None


def _factorisations(n: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Factorisations of n into descending factors from 2 to `largest`."""
    if n == 1:
        yield ()
    for factor in range(min(largest, n), 1, -1):
        if n % factor == 0:
            yield from ((factor, *rest) for rest in _factorisations(n // factor, factor))


def supports(shape: tuple[int, ...]) -> bool:
    """Whether the passes can transform fields (nz, ny, nx).

    This requires three axes, an even nx, fewer than 2^31 values, and nx / 2, ny and nz that are at
    most 1024 and products of two or more numbers from 2 to 10.
    """
    nz, ny, nx = shape
    lengths = (nx // 2, ny, nz)
    fits = max(lengths) <= LONGEST and prod(shape) < MOST_VALUES
    return fits and nx % 2 == 0 and all(plan(n) is not None for n in lengths)


def fits(shape: tuple[int, int, int], dtype: DTypeLike, shared_bytes: int) -> bool:
    """Whether `supports(shape)` holds and blocks need at most so much shared memory."""
    return supports(shape) and Passes.of(shape, dtype).most_shared_bytes <= shared_bytes


@dataclass(frozen=True)
class Passes:
    """Division of fields (nz, ny, nx) into segments, lines and blocks.

    Args:
        plans: transforms of pairs along x, and of values along y and z.
        value_bytes: size of a value of a spectrum.
        row_divisor: a divisor of the number of rows of every launch.
    """

    shape: tuple[int, int, int]
    plans: tuple[Plan, Plan, Plan]
    value_bytes: int
    row_divisor: int

    @classmethod
    def of(cls, shape: tuple[int, int, int], dtype: DTypeLike, row_divisor: int = 0) -> Passes:
        """The passes of fields for which `supports` is true; by default over all rows."""
        nz, ny, nx = shape
        x, y, z = plan(nx // 2, LARGEST_ROW_RADIX), plan(ny), plan(nz)
        assert x and y and z
        return cls(shape, (x, y, z), spectrum_dtype(dtype).itemsize, row_divisor or nz * ny)

    @property
    def spectrum_values(self) -> int:
        """Number of values of a spectrum."""
        nz, ny, nx = self.shape
        return nz * ny * (nx // 2 + 1)

    @cached_property
    def width(self) -> int:
        """Number of wavenumbers of a segment; a row consists of whole segments."""
        nz, ny, _ = self.shape
        least, most = LEAST_BYTES // self.value_bytes, self.most_lanes
        wanted = SEGMENT_BYTES // (ny * nz * self.value_bytes)
        return _divisor(self.plans[0].n, min(max(wanted, least), most))

    @property
    def group(self) -> int:
        """Number of lines of each k_x in a block."""
        return max(self.most_lanes // self.width, 1)

    @property
    def most_lanes(self) -> int:
        """Largest number of lines of a block; smaller for long lines, to limit shared memory."""
        is_long = any(map(_is_long, self.plans[1:]))
        return (LANE_BYTES // 2 if is_long else LANE_BYTES) // self.value_bytes

    @property
    def lanes(self) -> int:
        """Number of lines of a block."""
        return self.width * self.group

    def row_threads(self, file: str) -> int:
        """Number of threads of a row in a file of kernels."""
        return self.plans[0].aligned_threads(TILINGS[file].threads)

    def rows(self, file: str) -> int:
        """Number of rows of a block."""
        return _divisor(self.row_divisor, TILINGS[file].threads // self.row_threads(file))

    @property
    def line_threads(self) -> int:
        """Number of threads of a line along y or z."""
        most = TILINGS["planes"].threads // self.lanes
        return max(plan.threads(most) for plan in self.plans[1:])

    def gap(self, spacing: int) -> int:
        """Number of values between gaps of a line in shared memory, 0 for none; see SharedLine."""
        return 0 if spacing * self.value_bytes >= 128 else 8

    def row_blocks(self, file: str, count: int, tiles: int) -> Blocks:
        """Blocks for a number of rows, each with tiles of rows in shared memory."""
        rows = self.rows(file)
        shared = tiles * rows * _padded(self.plans[0].n, self.gap(1)) * self.value_bytes
        return Blocks(count // rows, rows * self.row_threads(file), shared)

    @property
    def most_shared_bytes(self) -> int:
        """Largest shared memory of a block."""
        tiles = {file: MOST_TILES.get(file, 1) for file in FILES.values()}
        rows = (self.row_blocks(file, self.rows(file), count) for file, count in tiles.items())
        return max(blocks.shared_bytes for blocks in (*rows, self.plane_blocks(4, 1, lines=2)))

    def plane_blocks(self, passes: int, fields: int, lines: int = 1) -> Blocks:
        """Blocks of a kernel of planes.h, with a number of lines in shared memory per thread."""
        longest = max(self.shape[:2])
        shared = lines * _padded(longest, self.gap(self.lanes)) * self.lanes * self.value_bytes
        tasks = fields * self.segments * self.slots + 2 * self.lag
        return Blocks(passes * tasks, self.lanes * self.line_threads, shared)

    @property
    def slots(self) -> int:
        """Number of tasks of a pass over a segment."""
        return -(-max(self.shape[:2]) // self.group)

    @property
    def lag(self) -> int:
        """Number of tasks by which a pass lags behind the previous one."""
        return self.slots + LAG

    @property
    def segments(self) -> int:
        """Number of segments; the highest wavenumber has its own."""
        return self.plans[0].n // self.width + 1

    def in_order(self, axis: int, values: NDArray[T]) -> NDArray[T]:
        """Values for each wavenumber in the order of the spectrum, which is natural along x.

        Along y, value 0 of all innermost butterflies comes first, then value 1, and so on.
        """
        order = self.plans[axis].order()
        if axis == 1:
            order = order.reshape(-1, self.plans[1].radices[-1]).T.reshape(-1)
        return values[order] if axis else values

    def constants(self, file: str) -> dict[str, Constant]:
        """Constants of the kernels of a file."""
        nz, ny, nx = self.shape
        tiling = TILINGS[file].of_type(self.value_bytes)
        return {
            **{"NX": nx, "NY": ny, "NZ": nz, "MX": nx // 2, "WIDTH": self.width},
            "MIN_BLOCKS_PER_SM": tiling.blocks,
            **(self._line_constants() if file == "planes" else self._row_constants(file)),
        }

    def _row_constants(self, file: str) -> dict[str, Constant]:
        rows, threads = self.rows(file), self.row_threads(file)
        return {
            "RADICES_X": _listed(self.plans[0].radices),
            "THREADS_X": threads,
            "ROWS": rows,
            "ROW_GAP": self.gap(1),
            "MAX_THREADS_PER_BLOCK": max(rows * threads, 128),  # those of `erase`
        }

    def _line_constants(self) -> dict[str, Constant]:
        return {
            "RADICES_Y": _listed(self.plans[1].radices),
            "RADICES_Z": _listed(self.plans[2].radices),
            "LINE_THREADS": self.line_threads,
            "LINE_GAP": self.gap(self.lanes),
            "GROUP": self.group,
            "LAG": self.lag,
            "MAX_THREADS_PER_BLOCK": max(self.line_threads * self.lanes, 128),  # clear_counts
        }


def _is_long(plan: Plan) -> bool:
    """Whether lines of a plan need so much memory or time that fewer in a block are faster."""
    return plan.n > (LONG if len(plan.radices) <= MOST_STAGES else SHORT)


def _divisor(n: int, most: int) -> int:
    """The largest divisor of n up to `most`."""
    return next(d for d in range(max(min(n, most), 1), 0, -1) if n % d == 0)


def _padded(n: int, gap: int) -> int:
    return n + n // gap if gap else n


def _listed(radices: tuple[int, ...]) -> str:
    return ", ".join(map(str, radices))
