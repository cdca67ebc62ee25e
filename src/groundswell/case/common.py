"""Sections that the cases of all solvers share, and the base class `Case`."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    PrivateAttr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic.fields import FieldInfo

from groundswell.case.problems import Violation, format_value, problems_in, reject
from groundswell.case.recording import Recordable, RecordSection
from groundswell.case.section import ByFile as ByFile
from groundswell.case.section import DataFile as DataFile
from groundswell.case.section import FileName as FileName
from groundswell.case.section import NotEmpty as NotEmpty
from groundswell.case.section import Section as Section
from groundswell.case.section import TaggedUnion as TaggedUnion
from groundswell.case.section import exactly_one as exactly_one
from groundswell.case.section import repeated as repeated
from groundswell.case.settings import Settings
from groundswell.case.units import Accepts, Count, CountOrZero, Flag, Number, Positive, Time, Unit
from groundswell.errors import CaseError, listed

# --- common sections -----------------------------------------------------------------------------


class TimeSection(Section):
    """`[time]`: the duration, and the time step or "auto" for the longest stable step."""

    duration: Annotated[Time, Positive]
    """Time at which the run ends, counted from time 0, also if it starts earlier."""
    step: Annotated[float | Literal["auto"], Unit("s", "a time", "5 ms", word="auto")] = "auto"
    """Time step; "auto" is the longest stable one. A step that is not stable is an error."""

    def violations(self) -> Iterator[Violation]:
        """A step that is not positive, or longer than the duration."""
        if self.step != "auto" and not 0 < self.step <= self.duration:
            yield ("step",), f"must be positive and at most the duration, {self.duration:g} s"


class OutputSection(Section):
    """`[output]`: the folder of the results and the records; solvers add their outputs.

    Attributes:
        recordable: what the solver can record.
    """

    recordable: ClassVar[Recordable] = Recordable()

    directory: FileName = Field(default=Path("results"), validate_default=True)
    """Folder of the results."""
    record: tuple[RecordSection, ...] = ()
    """Fields to record at points, on lines and planes, or in boxes, in files of their own."""

    def violations(self) -> Iterator[Violation]:
        """Records that the solver cannot make."""
        yield from self.recordable.violations(self.record)


class CheckpointSection(Section):
    """`checkpoint = { minutes = 10 }` or `{ steps = 1000 }`: interval between checkpoints."""

    minutes: Annotated[Number, Positive] | None = None
    """Minutes between checkpoints."""
    steps: Count | None = None
    """Steps between checkpoints."""

    def violations(self) -> Iterator[Violation]:
        """Not exactly one of the two."""
        yield from exactly_one(self, "minutes", "steps")


_CODEC = Accepts("the name of a codec")
_TRANSPORTS = Accepts("the name of a transport, or two")
TRANSPORTS = ("direct", "peer", "nccl", "mpi-gpu", "mpi", "mpi-thread")


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


def _lossy_codec(value: str) -> str:
    """Validate a codec with loss."""
    if not _ZFP.fullmatch(value):
        reject([((), 'must be a codec with loss, as in "zfp16"')])
    return value


CODECS = ("auto", "none", "mpc")

_ZFP = re.compile("zfp([4-9]|[12][0-9]|3[0-2])")


class RunSection(Section):
    """`[run]`: backend, precision, checkpoints, and the exchange between ranks.

    `processes` is the number of ranks along x, y and z, 0 where it is automatic. `narrow` is a type
    that ghost values are rounded to for transfer; only this and lossy codecs change results.
    `codec` compresses messages: "auto" tries a lossless codec on links that may be slow, and
    `lossy` if it is given.

    Attributes:
        unsupported: keys that the solver does not have; they must have their defaults.
        decisive: keys that results depend on, besides `codec`.
    """

    unsupported: ClassVar[tuple[str, ...]] = ()
    decisive: ClassVar[tuple[str, ...]] = ("backend", "precision", "narrow", "lossy")

    backend: Literal["cpu", "cuda"] = "cpu"
    """Where the run computes: on the CPU or on a GPU. One never replaces the other."""
    precision: Literal["single", "double"] = "single"
    """Precision of all fields."""
    checkpoint: CheckpointSection | None = None
    """Interval between checkpoints. Ctrl-C writes one, too; under `mpiexec`, SIGUSR1 does."""
    processes: tuple[CountOrZero, CountOrZero, CountOrZero] | None = None
    """Number of ranks along x, y and z; 0 lets Groundswell choose."""
    transport: Annotated[str, AfterValidator(_transport), _TRANSPORTS] = "auto"
    """How ranks exchange values: "auto", "direct", "peer", "nccl", "mpi-gpu", "mpi", "mpi-thread",
    or two, such as "peer+mpi", within and between hosts. "auto" measures the fastest."""
    overlap: Flag | Literal["auto"] = "auto"
    """Whether the exchange overlaps with the update of the interior."""
    narrow: Literal["float32", "bfloat16"] | None = None
    """Type to which ghost values are rounded for transfer. Results then depend on the ranks."""
    codec: Annotated[str, AfterValidator(_codec), _CODEC] = "auto"
    """Compression of messages: "none", "mpc" (lossless) or a lossy codec such as "zfp16". "auto"
    tries lossless ones between hosts."""
    lossy: Annotated[str, AfterValidator(_lossy_codec), Accepts("the name of a codec")] | None = (
        None
    )
    """Lossy codec that codec = "auto" may use, such as "zfp16"."""

    @field_validator("*", mode="before")
    @classmethod
    def _is_supported(cls, value: object, info: ValidationInfo) -> object:
        """Reject unsupported keys before their values, whose errors state what others allow."""
        name = str(info.field_name)
        if name in cls.unsupported and value != cls.model_fields[name].default:
            reject([((), "is not for this solver; leave it out")])
        return value

    @classmethod
    def _keys(cls) -> dict[str, FieldInfo]:
        return {n: field for n, field in super()._keys().items() if n not in cls.unsupported}

    @property
    def dtype(self) -> str:
        """NumPy name of the floating-point type."""
        return {"single": "float32", "double": "float64"}[self.precision]

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


class Case(Section):
    """A case: the complete description of a run. Solvers add their sections.

    >>> import groundswell as gs
    >>> case = gs.load_case("case.toml")
    >>> case.run.backend
    'cpu'
    >>> case.with_run(precision="single").run.precision
    'single'
    """

    solver: str
    """Solver of the case."""
    title: str = ""
    """Title for pictures and files."""
    time: Section | None = None
    """Duration and time step."""
    # Defaults are validated because file names depend on the folder.
    output: OutputSection = Field(default_factory=dict, validate_default=True)  # type: ignore
    """What is written, and where."""
    run: RunSection = RunSection()
    """Backend, precision, checkpoints, and the exchange between ranks."""
    _folder: Path = PrivateAttr(default_factory=Path)
    _source: str = PrivateAttr(default="case")
    _settings: Settings = PrivateAttr(default_factory=dict)
    _text: str = PrivateAttr(default="")

    @classmethod
    def from_dict(
        cls,
        content: Mapping[str, object],
        folder: str | Path = "",
        source: str = "case",
        settings: Settings | None = None,
    ) -> Self:
        """Validate the tables of a case file; a method of the case of each solver.

        Args:
            content: the tables.
            folder: folder of relative file names; the current folder if empty.
            source: name of the case in messages.
            settings: values of the content that differ from those of the file; only for summaries.

        Raises:
            CaseError: the case is invalid; lists every problem.
        """
        path = Path(folder).absolute()
        try:
            case = cls.model_validate(content, context={"folder": path})
        except ValidationError as error:
            raise CaseError(problems_in(error, content), source) from None
        case._folder, case._source, case._settings = path, source, settings or {}
        return case

    def with_run(self, **values: str | None) -> Self:
        """A copy of the case with other values in `[run]`, such as the backend.

        Args:
            values: values by key; None leaves the value of the case.

        Raises:
            CaseError: a value is invalid.
        """
        given = {name: value for name, value in values.items() if value is not None}
        if not given:
            return self
        content = {**self.run.model_dump(exclude_none=True), **given}
        try:
            section = type(self.run).model_validate(content)
        except ValidationError as error:
            raise CaseError(problems_in(error, content), "[run]") from None
        return self.model_copy(update={"run": section})

    @property
    def source_path(self) -> Path:
        """The folder of relative file names."""
        return self._folder

    @property
    def source_name(self) -> str:
        """Name of the case in messages."""
        return self._source

    @property
    def settings(self) -> dict[str, str]:
        """The values that replace those of the case file, as text in TOML, by path."""
        return {path: format_value(value) or "{...}" for path, value in self._settings.items()}

    @property
    def text(self) -> str:
        """The text of the case file; "" if the case is from elsewhere."""
        return self._text

    def resolve(self, name: str | Path) -> Path:
        """The path of a file of the case, such as a result."""
        return self._folder / name

    def data_files(self, without: tuple[str, ...] = ()) -> list[Path]:
        """The existing files that the case names, in the order of its content.

        Args:
            without: top-level sections to leave out.
        """
        content = self.model_dump(exclude=set(without))
        return [path for path in _paths(content) if path.is_file()]

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

    def digest_with_files(self, without: tuple[str, ...] = ()) -> str:
        """The same, with the times and sizes of the data files in these sections.

        It decides whether a later run of this process can use a part of a set-up again.
        """
        named = _paths(self.model_dump(exclude=set(without)))
        states = [(str(path), path.stat()) for path in named if path.is_file()]
        files = [(path, state.st_mtime_ns, state.st_size) for path, state in states]
        return hashlib.sha256(f"{self.digest(without)} {files}".encode()).hexdigest()

    def _plain(self, value: Any) -> Any:
        """JSON values of paths, as the user wrote them, and of arrays."""
        if isinstance(value, PurePath):
            inside = value.is_relative_to(self._folder)
            return (value.relative_to(self._folder) if inside else value).as_posix()
        contiguous = value if value.flags.c_contiguous else value.copy()
        checksum = hashlib.sha256(contiguous.data).hexdigest()
        return {"shape": value.shape, "dtype": str(value.dtype), "sha256": checksum}


def _paths(content: object) -> Iterator[Path]:
    """Yield every path in nested mappings and sequences."""
    if isinstance(content, Path):
        yield content
    elif isinstance(content, Mapping):
        for value in content.values():
            yield from _paths(value)
    elif isinstance(content, (list, tuple)):
        for value in content:
            yield from _paths(value)
