"""What sections of a case are made of: the base of them all, unions of sections, lists, files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import Annotated, Any, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    PlainValidator,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import core_schema

from groundswell.case.problems import Fault, problems_in, refuse, reword
from groundswell.errors import CaseError, did_you_mean, listed


class Section(BaseModel):
    """A table of a case. Unknown keys are refused, and a section never changes.

    Built by keyword it raises `CaseError`; inside a larger case it adds to the case's problems.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    def __init__(self, /, **content: Any) -> None:
        try:
            super().__init__(**content)
        except ValidationError as error:
            raise CaseError(problems_in(error, content), type(self).__name__) from None

    # Without this mark pydantic would build nested sections through `__init__` too, and the first
    # bad one would end the search for problems.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def faults(self) -> Iterator[Fault]:
        """What is wrong between keys that are each right; for sections to override."""
        yield from ()

    @model_validator(mode="wrap")
    @classmethod
    def _validate(cls, content: Any, handler: Any) -> Any:
        try:
            section = handler(content)
        except ValidationError as error:
            refuse(reword(error, {f.alias or name: f for name, f in cls.model_fields.items()}))
        refuse(section.faults())
        return section


@dataclass(frozen=True)
class Kinds:
    """Annotation of a union of sections: which one a table is, its key `tag` says."""

    tag: str = "kind"

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        sections = {
            kind: section
            for section in get_args(source)
            for kind in get_args(section.model_fields[self.tag].annotation)
        }
        choose = partial(self._choose, sections)
        return core_schema.with_info_plain_validator_function(choose)

    def _choose(self, sections: dict[str, type[Section]], value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, tuple(sections.values())):
            return value
        if not isinstance(value, dict):
            refuse([((), f"must be a table with the key {self.tag}: {listed(sections)}")])
        if self.tag not in value:
            refuse([((self.tag,), f"is required; use {listed(sections)}")])
        kind = value[self.tag]
        if not isinstance(kind, str) or kind not in sections:
            allowed = f"must be {listed(sections)}{did_you_mean(kind, sections)}"
            refuse([((self.tag,), allowed)])
        return sections[kind].model_validate(value, context=info.context)


def exactly_one(section: Section, *names: str) -> Iterator[Fault]:
    """The fault of a section that gives none, or several, of the keys `names`."""
    given = [name for name in names if getattr(section, name) is not None]
    if not given:
        yield (), f"give {listed(names)}"
    elif len(given) > 1:
        yield (given[-1],), f"give only one of {' and '.join(names)}"


def _filled(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    if not entries:
        refuse([((), "must not be empty")])
    return entries


# Checked after the entries, so that bad ones do not make a list look empty.
NotEmpty = AfterValidator(_filled)


def repeated(place: str, entries: tuple[Any, ...]) -> Iterator[Fault]:
    """The faults of a list that names something twice."""
    for n, entry in enumerate(entries):
        if entry in entries[:n]:
            yield (place, n), "is in the list already; name each once"


# --- files ----------------------------------------------------------------------------------------


def _in_folder(value: Any, info: ValidationInfo) -> Path:
    """The path that a name stands for: relative names start in the case file's folder."""
    if not isinstance(value, str | PurePath) or not str(value).strip() or "\0" in str(value):
        refuse([((), 'must be the name of a file or folder, such as "model.csv"')])
    return (info.context or {}).get("folder", Path()) / Path(value)


def _existing(path: Path) -> Path:
    try:
        found = path.is_file()
    except (OSError, ValueError):  # a name too long for the system, or not in its encoding
        found = False
    if not found:
        refuse([((), "is not there; relative names start in the case file's folder")])
    return path


FileName = Annotated[Path, PlainValidator(_in_folder)]
DataFile = Annotated[FileName, AfterValidator(_existing)]
