"""Operations on rows of indices: the kernel that reduces rows of one array into rows of another.

A row operation reduces the values at the source indices of a row, and stores the result at all
target indices of the row. Kernels read rows in sliced ELLPACK format, see sliced_ellpack.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from groundswell.arrays import DeviceArray
from groundswell.backends import Backend, Blocks, Constant, Launch, Source
from groundswell.backends.launch import KernelArguments
from groundswell.backends.sliced_ellpack import (
    MAX_IN_FLIGHT,
    THREADS,
    IndexRows,
    SlicedEllpack,
    SlicesOnDevice,
    SparseRows,
)
from groundswell.errors import InputError

OPERATIONS = {"sum": 0, "multiply": 1, "min": 2, "max": 3}  # as in reduce_pair.h
TYPES = {"float32": "float", "float64": "double", "int32": "int", "int64": "long long"}
MIN_BLOCKS_PER_SM = 4  # hides memory latency, which pays off even if registers spill


@dataclass(frozen=True)
class Operand:
    """A backend's array, (values,) or (components, values), with contiguous values.

    Raises:
        InputError: the shape is different, or kernels do not support the type.
    """

    array: DeviceArray

    def __post_init__(self) -> None:
        shape, strides, dtype = self.array.shape, self.array.strides, self.array.dtype
        if str(dtype) not in TYPES:
            raise InputError(f"values of type {dtype}; allowed: {', '.join(TYPES)}")
        if len(shape) not in (1, 2) or (shape[-1] > 1 and strides[-1] != dtype.itemsize):
            raise InputError(
                f"an array of shape {tuple(shape)} and strides {tuple(strides)}: give one of shape "
                "(values,) or (components, values), with contiguous values"
            )

    @property
    def components(self) -> int:
        """Number of components."""
        return int(self.array.shape[0]) if self.array.ndim == 2 else 1

    @property
    def pitch(self) -> int:
        """Distance between components, in values."""
        return int(self.array.strides[0] // self.array.dtype.itemsize) if self.components > 1 else 0

    @property
    def count(self) -> int:
        """Number of values of a component."""
        return int(self.array.shape[-1])

    def arguments(self, name: str, first: int) -> KernelArguments:
        """The kernel arguments whose names begin with `name`; `first` is the index of row 0."""
        return {name: self.array, f"{name}_pitch": self.pitch, f"{name}_first": first}


def reduce_rows(
    backend: Backend,
    operation: str,
    source: tuple[Operand, IndexRows],
    target: tuple[Operand, SparseRows],
) -> list[Launch]:
    """The launch that reduces source rows into target rows; none without rows."""
    (old, from_rows), (new, to_rows) = source, target
    if not from_rows.count:
        return []
    small = max(old.count, new.count) < 2**31
    slices = _on_device(backend, from_rows, to_rows, "int32" if small else "int64")
    count = len(slices.table)
    kernels = row_source(
        "assemble.h",
        (str(old.array.dtype), operation),
        INDICES_32_BIT=small,
        IN_PLACE=slices.in_place,
        MAX_IN_FLIGHT=MAX_IN_FLIGHT,
        MIN_BLOCKS_PER_SM=MIN_BLOCKS_PER_SM,
    )
    return [
        backend.compile(kernels).launch(
            *("assemble", Blocks(count * old.components, THREADS)),
            **old.arguments("from", slices.first[0]),
            **new.arguments("to", slices.first[1]),
            **{"slices": slices.table, "indices": slices.indices},
            **{"count": count, "components": old.components},
        )
    ]


def _on_device(
    backend: Backend, source: IndexRows, target: SparseRows, dtype: str
) -> SlicesOnDevice:
    """Slices of these rows on a device; operations share them if the targets are contiguous."""
    if target.indices is not None:
        return SlicedEllpack.of(source, target, dtype=dtype).on(backend, dtype)
    key = backend, target.first, dtype
    if key not in source.on_devices:
        source.on_devices[key] = SlicedEllpack.of(source, target, dtype=dtype).on(backend, dtype)
    return source.on_devices[key]


def row_source(name: str, values: tuple[str, str], **constants: Constant) -> Source:
    """Kernels of row operations for a (type, reduction)."""
    dtype, operation = values
    kind: dict[str, Constant] = {"VALUE": TYPES[dtype], "OPERATION": OPERATIONS[operation]}
    return Source(Path(__file__).with_name(name), kind | constants)
