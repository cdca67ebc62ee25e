"""The reference of cases: complete for every solver, and the same as templates and messages."""

from __future__ import annotations

import re
import tomllib
from typing import Annotated, Literal

import pytest

from groundswell import registry
from groundswell.case.annotation import annotated, lines
from groundswell.case.common import Section, TaggedUnion
from groundswell.case.meanings import meanings
from groundswell.case.problems import short
from groundswell.case.reference import Key, Table, anchors_of_rows, tables
from groundswell.case.units import Count, Length, Number, Positive
from groundswell.errors import CaseError
from groundswell.seismology.hazard.case import HazardCase

solvers = pytest.mark.parametrize("solver", registry.names())
inputs = pytest.mark.parametrize("solver", (*registry.names(), "hazard"))


def reference(solver: str) -> tuple[Table, ...]:
    return tables(HazardCase if solver == "hazard" else registry.find(solver).load("case"))


def keys(solver: str) -> dict[str, Key]:
    return {f"{table.anchor}/{key.name}": key for table in reference(solver) for key in table.keys}


# --- every solver ---------------------------------------------------------------------------------


@inputs
def test_every_key_has_a_meaning_and_says_what_it_allows(solver: str) -> None:
    found = keys(solver)
    assert len(found) > 30
    assert [name for name, key in found.items() if not key.meaning] == []
    assert [name for name, key in found.items() if not key.values] == []
    assert [n for n, key in found.items() if not key.meaning.endswith((".", '."'))] == []


@inputs
def test_anchors_are_unique_and_tables_are_found(solver: str) -> None:
    found = reference(solver)
    anchors = [table.anchor for table in found]
    names = [table.anchor_of(key) for table in found for key in table.keys]
    assert len({*anchors}) == len(anchors) and len({*names}) == len(names)
    paths = {path for table in found for path in (table.path, *table.also)}
    assert {path for table in found for key in table.keys for path in key.tables} <= paths


@inputs
def test_texts_name_nothing_that_exists_only_in_python(solver: str) -> None:
    texts = [(table.path, table.text) for table in reference(solver) if table.path]
    texts += [(name, key.meaning) for name, key in keys(solver).items()]
    python = re.compile(r"\b[A-Z]+_FILE\b|\w\.py\b|\b[Ss]ee `|\bNone\b")
    assert [(name, text) for name, text in texts if python.search(text)] == []


@inputs
def test_an_anchor_of_a_key_and_of_its_table_leads_to_the_table(solver: str) -> None:
    found = reference(solver)
    rows = anchors_of_rows(found)
    assert rows.isdisjoint(table.anchor for table in found)
    keys_in = [(table.anchor_of(key), key) for table in found for key in table.keys]
    assert all(anchor in rows for anchor, key in keys_in if not key.tables)
    assert any(anchor not in rows for anchor, key in keys_in if key.tables)


@solvers
def test_the_keys_of_templates_are_in_the_reference(solver: str) -> None:
    info = registry.find(solver)
    found = list(lines(info.read_template(), info.load("case")))
    named = [line for line in found if line.key and line.tables]
    assert len(named) > 15
    assert [line.text for line in named if line.found is None] == []


@solvers
def test_new_cases_have_a_comment_for_each_key(solver: str) -> None:
    info = registry.find(solver)
    template = info.read_template()
    text = annotated(template, info.load("case"))
    assert tomllib.loads(text) == tomllib.loads(template)
    assert max(map(len, text.splitlines())) <= 120
    assert len(text) > len(template)


def test_examples_of_the_earthquake() -> None:
    found = keys("earthquake")
    spacing = found["case-grid/spacing"]
    assert (spacing.unit, spacing.bounds, spacing.is_required) == ("m", "> 0", True)
    assert spacing.values == "a list of 3, each a length"
    assert found["case-boundary/sides"].values == '"pml", "sponge" or "periodic"'
    assert found["case-boundary/sides"].default == '"pml"'
    assert found["case-medium-layered/layers"].tables == ("medium.layers",)
    assert found["case-fault-friction-slip-weakening/distance"].unit == "m"
    assert found["case/time"].is_required and found["case-time/step"].values == '"auto" or a time'


# --- made of a section ----------------------------------------------------------------------------


class Hole(Section):
    """`kind = "hole"`: nothing."""

    kind: Literal["hole"]


class Stone(Section):
    """`kind = "stone"`: a stone."""

    kind: Literal["stone"]
    radius: Annotated[Length, Positive]
    """Radius of the stone. It is round."""


class Garden(Section):
    """A garden.

    Attributes:
        stones: for Python only.
    """

    size: tuple[Length, Length] = (1.0, 2.0)
    """Size of the garden,
    over two lines."""
    share: Annotated[Number, Positive] | None = None
    count: Count
    """P waves count."""
    things: tuple[Annotated[Stone | Hole, TaggedUnion()], ...] = ()


class WideGarden(Garden):
    """A garden with another share."""

    share: Annotated[Number, Positive] | None = 0.5
    """Share of the grass."""


def test_a_reference_is_made_of_types_and_texts() -> None:
    top, stone, hole = tables(Garden)
    assert top.text == "A garden."
    size, share, count, things = top.keys
    assert (size.default, size.unit, size.meaning) == (
        "[1.0, 2.0]",
        "m",
        "Size of the garden, over two lines.",
    )
    assert (share.meaning, share.default, share.bounds) == ("", "", "> 0")
    assert count.is_required and count.bounds == "≥ 1" and count.values == "a whole number"
    assert things.values == "a list, each entry a table" and things.tables == ("things",)
    assert (stone.heading, stone.kind) == ("[[things]]", 'kind = "stone"')
    assert [key.name for key in hole.keys] == ["kind"]
    assert stone.anchor_of(stone.keys[1]) == "case-things-stone-radius"


def test_subclasses_add_to_the_texts() -> None:
    assert meanings(WideGarden)["count"] == "P waves count."
    assert meanings(WideGarden)["share"] == "Share of the grass."
    assert "share" not in meanings(Garden)


def test_missing_keys_are_explained() -> None:
    with pytest.raises(CaseError) as caught:
        WideGarden(things=[{"kind": "stone"}])
    told = [f"{problem.key}: {problem.allowed}" for problem in caught.value.problems]
    assert told[0] == "count: is required (P waves count)"
    assert told[1].startswith("things[0].radius: is required (radius of the stone); give a length")


def test_the_middle_of_a_sentence() -> None:
    assert short("Size of the region. More of it.") == "size of the region"
    assert short("P wave speed.") == "P wave speed"
    assert short('Steps; "auto" is best.') == "steps"


def test_comments_are_meanings() -> None:
    text = "count = 3\n# share = 0.2\n\n[[things]]\n# kind = 'hole'\nkind = \"stone\"\nradius = 2\n"
    text += '\n[[things]]  # another\nkind = "stone"\nradius = 3   # my own\nsize = is no TOML\n'
    found = annotated(text, WideGarden).splitlines()
    assert found[6] == f"{'radius = 2':<40}# radius of the stone"
    assert [line for line in found if "#" not in line] == [
        *("count = 3", "", "[[things]]", 'kind = "stone"', "", 'kind = "stone"'),
        "size = is no TOML",
    ]
