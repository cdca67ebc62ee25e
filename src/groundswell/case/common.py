"""Base classes and sections that the cases of all solvers share."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic_core import core_schema

from groundswell.case.problems import Violation, problems_in, reject, translate_errors
from groundswell.case.units import (
    Count,
    CountOrZero,
    Flag,
    NonNegative,
    Number,
    Positive,
    Rate,
    Time,
    Unit,
)
from groundswell.errors import CaseError, did_you_mean, listed


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
            raise CaseError(problems_in(error, content), type(self).__name__) from None

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
            reject(translate_errors(error, cls.model_fields))
        reject(section.violations())
        return section


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


def exactly_one(section: Section, *names: str) -> Iterator[Violation]:
    """Yield a violation if the section gives none, or several, of the keys `names`."""
    given = [name for name in names if getattr(section, name) is not None]
    if not given:
        yield (), f"give {listed(names)}"
    elif len(given) > 1:
        yield (given[-1],), f"give only one of {' and '.join(names)}"


def _not_empty(entries: tuple[Any, ...]) -> tuple[Any, ...]:
    if not entries:
        reject([((), "must not be empty")])
    return entries


# Validated after the entries, so that invalid entries do not make a list look empty.
NotEmpty = AfterValidator(_not_empty)


def repeated(key: str, entries: tuple[Any, ...]) -> Iterator[Violation]:
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
        reject([((), "is not there; relative names start in the case file's folder")])
    return path


FileName = Annotated[Path, PlainValidator(_in_folder)]
DataFile = Annotated[FileName, AfterValidator(_existing)]


# --- common sections -----------------------------------------------------------------------------


class TimeSection(Section):
    """`[time]`: the duration, and the time step or "auto" for the longest stable step."""

    duration: Annotated[Time, Positive]
    step: Annotated[
        float | Literal["auto"],
        Unit("s", "a time", "5 ms", word="auto"),
    ] = "auto"

    def violations(self) -> Iterator[Violation]:
        """A step that is not positive, or longer than the duration."""
        if self.step != "auto" and not 0 < self.step <= self.duration:
            yield ("step",), f"must be positive and at most the duration, {self.duration:g} s"


class OutputSection(Section):
    """`[output]`: the folder of the results; solvers add their outputs."""

    directory: FileName = Field(default=Path("results"), validate_default=True)


class CheckpointSection(Section):
    """`checkpoint = { minutes = 10 }` or `{ steps = 1000 }`: interval between checkpoints."""

    minutes: Annotated[Number, Positive] | None = None
    steps: Count | None = None

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of the two."""
        yield from exactly_one(self, "minutes", "steps")


TRANSPORTS = ("fused", "direct", "peer", "nccl", "mpi-gpu", "mpi", "mpi-thread")


def _transport(value: str) -> str:
    """Validate a transport, or two as in "peer+mpi": within a host, and between hosts."""
    if value != "auto" and (value.count("+") > 1 or set(value.split("+")) - set(TRANSPORTS)):
        reject([((), f'must be "auto", {listed(TRANSPORTS)}, or two as in "peer+mpi"')])
    return value


def _codec(value: str) -> str:
    """Validate a codec of messages."""
    if value not in CODECS and not _ZFP.fullmatch(value):
        reject([((), f'must be {listed(CODECS)}, or as in "zfp16"')])
    return value


CODECS = ("auto", "none", "mpc", "bitcomp", "ans")

_ZFP = re.compile("zfp([4-9]|[12][0-9]|3[0-2])")


class LinkSection(Section):
    """`link = { bandwidth = "25 GB/s", latency = "2 us" }`: an emulated slower link between ranks.

    `gap` is the cost of each message, whatever its size.
    """

    bandwidth: Annotated[Rate, Positive]
    latency: Annotated[Time, NonNegative] = 0.0
    gap: Annotated[Time, NonNegative] = 0.0


class RunSection(Section):
    """`[run]`: backend, precision, checkpoints, and the exchange between ranks.

    `processes` is the number of ranks along x, y and z, 0 where it is automatic. `narrow` is a type
    that ghost values are rounded to for transfer; only this and lossy codecs change results.
    `codec` compresses messages: "auto" tries a lossless codec on links that may be slow, and
    `lossy` if it is given.
    """

    backend: Literal["cpu", "cuda"] = "cpu"
    precision: Literal["single", "double"] = "single"
    checkpoint: CheckpointSection | None = None
    processes: tuple[CountOrZero, CountOrZero, CountOrZero] | None = None
    transport: Annotated[str, AfterValidator(_transport)] = "auto"
    overlap: Flag | Literal["auto"] = "auto"
    narrow: Literal["float32", "bfloat16"] | None = None
    codec: Annotated[str, AfterValidator(_codec)] = "auto"
    lossy: Annotated[str, AfterValidator(_codec)] | None = None
    link: LinkSection | None = None

    @property
    def codecs(self) -> list[str]:
        """The codecs to try."""
        if self.codec != "auto" or self.narrow:
            return ["none" if self.codec == "auto" else self.codec]
        return ["none", "mpc", *([self.lossy] if self.lossy else [])]

    def violations(self) -> Iterator[Violation]:
        """A type for transfer that is not narrower than the precision, or conflicting codecs."""
        allowed = {"single": "bfloat16", "double": "float32"}[self.precision]
        if self.narrow not in (None, allowed):
            yield ("narrow",), f'must be "{allowed}" where precision = "{self.precision}"'
        if self.narrow and self.codec not in ("auto", "none"):
            yield ("narrow",), f'cannot be given with codec = "{self.codec}"; choose one of the two'
        if self.lossy and (self.narrow or self.codec != "auto"):
            yield ("lossy",), 'is for codec = "auto" without narrow; leave it out'
        if self.lossy and not _ZFP.fullmatch(self.lossy):
            yield ("lossy",), 'must be a codec with loss, as in "zfp16"'


class Case(Section):
    """A case: the complete description of a run. Solvers add their sections."""

    solver: str
    title: str = ""
    time: Section | None = None
    # Defaults are validated because file names depend on the folder.
    output: OutputSection = Field(default_factory=dict, validate_default=True)  # type: ignore
    run: RunSection = RunSection()
    _folder: Path = PrivateAttr(default_factory=Path)

    @classmethod
    def from_dict(
        cls, content: Mapping[str, Any], folder: str | Path = "", source: str = "case"
    ) -> Self:
        """Validate the tables of a case file.

        Args:
            content: the tables.
            folder: folder of relative file names; the current folder if empty.
            source: name of the case in messages.

        Raises:
            CaseError: the case is invalid; lists every problem.
        """
        path = Path(folder).absolute()
        try:
            case = cls.model_validate(content, context={"folder": path})
        except ValidationError as error:
            raise CaseError(problems_in(error, content), source) from None
        case._folder = path
        return case

    @property
    def source_path(self) -> Path:
        """The folder of relative file names."""
        return self._folder

    def resolve(self, name: str | Path) -> Path:
        """The path of a file of the case, such as a result."""
        return self._folder / name

    def data_files(self) -> list[Path]:
        """The existing files that the case names, in the order of its content."""
        return [path for path in _paths(self.model_dump()) if path.is_file()]

    def canonical(self, without: tuple[str, ...] = ()) -> str:
        """The validated content in SI units, as JSON with sorted keys and checksums of arrays.

        Args:
            without: top-level sections to leave out.
        """
        content = self.model_dump(exclude=set(without), exclude_none=True)
        return json.dumps(content, sort_keys=True, default=self._plain)

    def digest(self, without: tuple[str, ...] = ()) -> str:
        """SHA-256 of the canonical content; data files count by name, not by content."""
        return hashlib.sha256(self.canonical(without).encode()).hexdigest()

    def _plain(self, value: Any) -> Any:
        """JSON values of paths, as the user wrote them, and of arrays."""
        if isinstance(value, PurePath):
            inside = value.is_relative_to(self._folder)
            return (value.relative_to(self._folder) if inside else value).as_posix()
        checksum = hashlib.sha256(value.tobytes()).hexdigest()
        return {"shape": value.shape, "dtype": str(value.dtype), "sha256": checksum}


def _paths(content: Any) -> Iterator[Path]:
    """Yield every path in nested mappings and sequences."""
    if isinstance(content, Path):
        yield content
    elif isinstance(content, Mapping):
        for value in content.values():
            yield from _paths(value)
    elif isinstance(content, (list, tuple)):
        for value in content:
            yield from _paths(value)
