"""Base class of sections, unions of sections, and types of lists and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from types import NoneType
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
from pydantic.fields import FieldInfo
from pydantic_core import core_schema

from groundswell.case.meanings import meaning_of
from groundswell.case.problems import Violation, problems_in, reject, translate_errors
from groundswell.case.units import Accepts
from groundswell.errors import CaseError, did_you_mean, listed

ARGUMENTS = "the arguments"  # what messages call the content of a section that is built by keyword

CaseTable = Mapping[str, Any]  # the content of a section, by key


class Section(BaseModel):
    """A table of a case. Sections are immutable and reject unknown keys.

    Raises:
        CaseError: built by keyword, the section is invalid. Within a case, the case reports the
            problems of all its sections together.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    def __init__(self, /, **content: Any) -> None:
        try:
            super().__init__(**content)
        except ValidationError as error:
            raise CaseError(problems_in(error, content), ARGUMENTS) from None

    # Without this attribute pydantic would build nested sections through `__init__` too, and report
    # the problems of the first invalid one only.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    def violations(self) -> Iterator[Violation]:
        """Yield the violations of rules between valid keys; overridden by sections."""
        yield from ()

    @model_validator(mode="wrap")
    @classmethod
    def _validate(cls, content: Any, handler: Any) -> Any:
        try:
            section = handler(content)
        except ValidationError as error:
            reject(translate_errors(error, cls._keys(), partial(meaning_of, cls)))
        reject(section.violations())
        return section

    @classmethod
    def _keys(cls) -> dict[str, FieldInfo]:
        """The keys of the table; a field that must be None is none of them."""
        given = {
            n: field for n, field in cls.model_fields.items() if field.annotation is not NoneType
        }
        return {field.alias or name: field for name, field in given.items()}


@dataclass(frozen=True)
class TaggedUnion:
    """Annotation of a union of sections; the key `tag` of a table selects the section."""

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
            reject([((), f"must be a table with the key {self.tag}: {listed(sections)}")])
        if self.tag not in value:
            reject([((self.tag,), f"is required; use {listed(sections)}")])
        kind = value[self.tag]
        if not isinstance(kind, str) or kind not in sections:
            allowed = f"must be {listed(sections)}{did_you_mean(kind, sections)}"
            reject([((self.tag,), allowed)])
        return sections[kind].model_validate(value, context=info.context)


@dataclass(frozen=True)
class ByFile:
    """Annotation of a section: of the class `from_file` if it has the key `file`, else `other`."""

    from_file: type[Section]
    other: type[Section]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.with_info_plain_validator_function(self._validate)

    @property
    def accepts(self) -> Accepts:
        """Description of valid values, for the reference."""
        return Accepts("a table", tables=(("", self.other), ("with file", self.from_file)))

    def _validate(self, value: object, info: ValidationInfo) -> Any:
        if isinstance(value, self.from_file | self.other):
            return value
        chosen = self.from_file if isinstance(value, dict) and "file" in value else self.other
        return chosen.model_validate(value, context=info.context)


def exactly_one(section: Section, *names: str) -> Iterator[Violation]:
    """Yield a violation if the section gives none, or several, of the keys `names`."""
    given = [name for name in names if getattr(section, name) is not None]
    if not given:
        yield (), f"give {listed(names)}"
    elif len(given) > 1:
        yield (given[-1],), f"give only one of {' and '.join(names)}"


def _not_empty(entries: tuple[object, ...]) -> tuple[object, ...]:
    if not entries:
        reject([((), "must not be empty")])
    return entries


# Validated after the entries, so that invalid entries do not make a list look empty.
NotEmpty = AfterValidator(_not_empty)


def repeated(key: str, entries: tuple[object, ...]) -> Iterator[Violation]:
    """Yield a violation for each repeated entry of the list `key`."""
    for n, entry in enumerate(entries):
        if entry in entries[:n]:
            yield (key, n), "is in the list already; name each once"


# --- files ----------------------------------------------------------------------------------------


def _in_folder(value: Any, info: ValidationInfo) -> Path:
    """The path of a file name; relative names start in the folder of the case file."""
    if not isinstance(value, str | PurePath) or not str(value).strip() or "\0" in str(value):
        reject([((), 'must be the name of a file or folder, such as "model.csv"')])
    return (info.context or {}).get("folder", Path()) / Path(value)


def _existing(path: Path) -> Path:
    try:
        exists = path.is_file()
    except (OSError, ValueError):  # name too long, or not encodable
        exists = False
    if not exists:
        reject([((), "does not exist; relative names start in the folder of the case file")])
    return path


FileName = Annotated[Path, PlainValidator(_in_folder)]
DataFile = Annotated[FileName, AfterValidator(_existing)]


def is_data_file(metadata: Iterable[object]) -> bool:
    """Whether these annotations of a path require that the file exists."""
    return any(isinstance(m, AfterValidator) and m.func is _existing for m in metadata)
