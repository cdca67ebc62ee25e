"""TOML blocks as parts of the files that the program reads."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from page_blocks import ROOT, Block
from pydantic import ValidationError

from groundswell import registry
from groundswell.case.problems import problems_in
from groundswell.case.section import Section
from groundswell.ensembles.plan import PlanFile
from groundswell.seismology.hazard.case import HazardCase

# What a part of a file lacks, and what may lie beside it.
ELSEWHERE = ("is required", "has no runs", "does not exist; relative names start")


@cache
def schemas() -> dict[str, type[Section]]:
    """The schemas of all files, by a name for messages."""
    cases = {name: registry.find(name).load("case") for name in registry.names()}
    return {**cases, "plan": PlanFile, "hazard": HazardCase}


def problems(block: Block) -> list[str]:
    """Why a block is not a part of a file: the problems for the schema with the fewest.

    On a page about one solver, the file is a case of this solver.
    """
    content = tomllib.loads(block.text)
    subject = Path(block.page).stem
    names = [subject] if subject in registry.names() else schemas()
    return min((_problems(content, name) for name in names), key=len)


def _problems(content: dict[str, Any], name: str) -> list[str]:
    schema = schemas()[name]
    given = {"solver": name, **content} if "solver" in schema.model_fields else content
    try:
        schema.model_validate(given, context={"folder": ROOT})
    except ValidationError as error:
        found = problems_in(error, given)
        return [f"{name}: {p}" for p in found if not p.allowed.startswith(ELSEWHERE)]
    return []
