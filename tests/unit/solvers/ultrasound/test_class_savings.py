"""What classes of materials save: the memory that a check shows, and bytes of a step."""

from __future__ import annotations

from typing import Any

import pytest
from checked import cost, quantities_of
from ultrasound_cases import setup

from groundswell.errors import InputError
from groundswell.simulation import material_classes

BALL: dict[str, Any] = {"kind": "sphere", "centre": ["6 mm", "5 mm"], "radius": "2 mm"}
VALUES = {"speed": 1700.0, "density": 1100.0, "absorption": 1.0, "nonlinearity": 6.0}
TISSUES = [
    BALL | {"speed": 1700.0},
    {"kind": "layer", "axis": "x", "from": "9 mm", "density": 1100.0},
]


def shown(**changes: Any) -> dict[str, Any]:
    """The quantities of a case with three tissues, by key."""
    case = setup(**{"medium__shape": TISSUES} | changes)
    return {quantity.key: quantity for quantity in quantities_of(case)}


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_check_counts_materials_and_suggests_classes_on_a_gpu(backend: str) -> None:
    found = shown(run__backend=backend)
    assert found["material_count"].value == 3 and found["materials"].value == "cells"
    text = 'run.materials = "classes" changes no result, and the run needs '
    assert (text in found["materials"].text) == bool(found["materials"].label) == (backend != "cpu")
    assert text not in shown(run__backend="cuda", medium__shape=[])["materials"].text


def test_check_shows_the_table() -> None:
    found = shown(run__materials="classes")
    assert "a table of 3 materials, with 8-bit classes of cells" in found["materials"].text
    assert "saves nothing" in shown(run__materials="classes", medium__shape=[])["materials"].text


def test_too_many_materials_are_refused_before_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(material_classes, "MOST", 2)
    assert shown()["material_count"].value is None
    with pytest.raises(InputError, match=r'more than 2 .* set run.materials = "cells"'):
        shown(run__materials="classes")


@pytest.mark.parametrize(
    ("varying", "fields", "classes"),
    [
        ({"density"}, 2, 2),
        ({"speed"}, 1, 1),
        ({"speed", "density"}, 3, 2),
        ({"speed", "density", "absorption", "nonlinearity"}, 6, 3),
    ],
)
def test_a_step_reads_each_property_or_the_class_once_in_a_pass(
    varying: set[str], fields: int, classes: int
) -> None:
    """Passes: of the velocities, of the densities and, with a power law, of the pressure."""
    shape = BALL | {name: VALUES[name] for name in varying}
    cases = [([], "cells"), ([shape], "cells"), ([shape], "classes")]
    uniform, cells, table = (
        cost(setup(medium__power=1.5, medium__shape=shapes, run__materials=materials))
        for shapes, materials in cases
    )
    laplacians = 4 * (2 * 4 + 2) if "absorption" in varying else 0
    assert cells.bytes_per_update - uniform.bytes_per_update == 4 * fields + laplacians
    assert table.bytes_per_update - uniform.bytes_per_update == classes + laplacians
    # Without classes, transforms of the library need the density at the points of two velocities.
    stored = 3 * ("density" in varying) + ("speed" in varying) + 3 * ("absorption" in varying)
    assert cells.memory - table.memory == cells.updates_per_step * (4 * stored - 1)
