"""Arrays as codecs take them: a table of strips, whose addresses are the array's own."""

from __future__ import annotations

from typing import Any

from groundswell.backends import Backend
from groundswell.compression.strips import StridedValues, strip_sizes, strip_table

Boxes = list[tuple[tuple[int, ...], tuple[int, ...]]]


def whole(array: Any) -> Boxes:
    """The box of all values: its first point and its shape."""
    return [((0,) * len(array.shape), tuple(array.shape))]


def table_of(backend: Backend, array: Any, boxes: Boxes | None = None) -> Any:
    """The table, on the device, of boxes of an array; of the whole array if None."""
    begin, missing = backend.address(array), 3 - len(array.shape)
    strides = (0,) * missing + tuple(array.strides)
    places = [
        StridedValues(
            begin + sum(f * stride for f, stride in zip(first, array.strides, strict=True)),
            strides,
            (1,) * missing + shape,
        )
        for first, shape in boxes or whole(array)
    ]
    return backend.to_device(strip_table(places))


def sizes_of(boxes: Boxes) -> list[int]:
    """The number of values of each strip."""
    return strip_sizes([shape for _, shape in boxes])


def run(launches: Any) -> None:
    """Call all launches in order."""
    for launch in launches:
        launch()
