"""Reading of cases: TOML files, and input files in formats that installed solvers read."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from groundswell import registry
from groundswell.case.common import Case
from groundswell.case.settings import Settings, set_values
from groundswell.errors import CaseError, CaseProblem, InputError, listed, quoted

TOML = (".toml", "")  # suffixes of case files
_ONLY_TOML = "settings (--set) replace values of TOML case files only"
_NEW = "; `groundswell new` writes one to start from"
CaseInput = Case | Mapping[str, object] | str | Path  # all that can be run
_MAX_BYTES = 16 * 2**20  # a larger file is data, given as a case by mistake


def as_case(case: CaseInput, settings: Settings | None = None, **run: str | None) -> Case:
    """Return a case, or read its tables or an input file, and replace values of `[run]`.

    Args:
        case: a case, its tables as a dictionary, or the path of an input file. File names in a
            dictionary are relative to the current folder.
        settings: values of a case file to replace, by path, such as {"source.0.x": "2 km"}.
        run: values by key; None leaves the value of the case.

    Raises:
        InputError: as `load_case`; there are settings for a case that is complete; or `case` is
            none of these.
        CaseError: as `load_case`, or a value of `run` is invalid.
    """
    if isinstance(case, Case):
        if settings:
            raise InputError(f"{_ONLY_TOML}; build this case with other values instead")
        return case.with_run(**run)
    if isinstance(case, Mapping):
        return case_of(set_values({**case}, settings or {}), settings=settings).with_run(**run)
    if not isinstance(case, str | Path):
        raise InputError(
            f"a case is a path, a dictionary or a groundswell.Case, not {type(case).__name__}"
        )
    return load_case(case, settings).with_run(**run)


def load_case(path: str | Path, settings: Settings | None = None) -> Case:
    """Read and validate a case file (TOML), or another input file that an installed solver reads.

    >>> import groundswell as gs
    >>> case = gs.load_case("case.toml", {"fluid.rayleigh": 2e3})
    >>> case.fluid.rayleigh
    2000.0

    Args:
        path: path of the file.
        settings: values of a case file to replace, by path; see `set_values`.

    Raises:
        InputError: the file cannot be read, no solver reads its format, or a setting has a wrong
            path or is for a file that is not TOML.
        CaseError: the case is invalid; lists every problem with its key or line.
    """
    path = Path(path)
    if path.suffix.lower() in TOML:
        return read_case(_read(path, _NEW), path.parent, path.name, settings)
    if settings:
        raise InputError(f"{path}: {_ONLY_TOML}")
    return _load_with_solver(path)


def _load_with_solver(path: Path) -> Case:
    """Read an input file in a format other than TOML."""
    _require_file(path)
    found = registry.reader_of(path.suffix.lower())
    if found is None:
        others = ", ".join(
            sorted({suffix for info in registry.solvers() for suffix in info.readers})
        )
        raise InputError(
            f"{path}: no installed solver reads {quoted(path.suffix)} files; give a case file "
            f"(.toml){f' or one of {others}' if others else ''}"
        )
    info, reader = found
    with _readable(path):
        case: Case = info.resolve(reader)(path)
    return case


def read_document(path: str | Path) -> dict[str, object]:
    """The tables of a TOML file.

    Raises:
        InputError: the file cannot be read.
        CaseError: it is not TOML; names the line.
    """
    path = Path(path)
    return _parse(_read(path), path.name)


def read_case(
    text: str | bytes,
    folder: str | Path = "",
    source: str = "case",
    settings: Settings | None = None,
) -> Case:
    """Validate the TOML `text` of a case.

    Args:
        folder: folder of relative file names.
        source: name of the case in messages.
        settings: values to replace before, by path; see `set_values`.

    Raises:
        InputError: a setting has a wrong path.
        CaseError: the case is invalid; lists every problem.
    """
    content = set_values(_parse(text, source), settings or {})
    case = case_of(content, folder, source, settings)
    case._text = text if isinstance(text, str) else text.decode("utf-8-sig")
    return case


def case_of(
    document: Mapping[str, object],
    folder: str | Path = "",
    source: str = "case",
    settings: Settings | None = None,
) -> Case:
    """Validate the tables of a case file.

    Args:
        folder: folder of relative file names.
        source: name of the case in messages.
        settings: values that differ from the file's, by path.

    Raises:
        CaseError: the case is invalid; lists every problem.
    """
    return _schema(document, source).from_dict(document, folder, source, settings)


def _read(path: Path, cure: str = "") -> bytes:
    with _readable(path, cure):
        _require_file(path, cure)
        if path.stat().st_size > _MAX_BYTES:
            raise InputError(f"{path} is larger than 16 MiB; a case is a short TOML text file")
        return path.read_bytes()


def _require_file(path: Path, cure: str = "") -> None:
    with _readable(path, cure):
        if path.is_dir():
            raise InputError(
                f"{path} is a folder; give the case file in it, such as {path}/case.toml"
            )
        path.stat()  # raises if the file does not exist
        if not path.is_file():
            raise InputError(f"{path} is not a file; a case is a TOML text file")


@contextmanager
def _readable(path: Path, cure: str = "") -> Iterator[None]:
    """Translate operating-system errors while reading into `InputError`.

    Args:
        cure: what to do if there is no such file, the end of the message.
    """
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path}: no such file{cure}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path} cannot be read: {reason}") from None


def _parse(text: str | bytes, source: str) -> dict[str, object]:
    try:
        return tomllib.loads(text if isinstance(text, str) else text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        problem = CaseProblem(f"line {line}", "", "is not UTF-8 text; save the file as UTF-8")
    except RecursionError:
        problem = CaseProblem("case", "", "has lists or tables nested too deep")
    except ValueError as error:
        # Numbers with too many digits raise a plain ValueError, without a line.
        reason, _, location = str(error).partition(" (at ")
        problem = CaseProblem(location.rstrip(")") or "case", "", f"is not TOML: {reason}")
    raise CaseError([problem], source)


def _schema(content: Mapping[str, object], source: str) -> type[Case]:
    if "solver" not in content:
        allowed = f"is required; use {listed(registry.names())}"
        raise CaseError([CaseProblem("solver", "", allowed)], source)
    try:
        schema: type[Case] = registry.find(str(content["solver"])).load("case")
    except InputError as error:
        raise CaseError([CaseProblem("solver", "", str(error))], source) from None
    return schema
