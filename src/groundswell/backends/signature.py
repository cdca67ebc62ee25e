"""Signatures of kernels, read from their sources: which arrays a kernel reads and writes.

A macro or a type that the reader does not understand makes it say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import simpleeval

MAX_DEPTH = 20  # of nested macros
COMPILERS: tuple[tuple[str, ...], ...] = ((), ("__CUDACC__",))  # their macros, for CPUs and GPUs

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DEFINE = re.compile(r"\s*#\s*define\s+(\w+)(?:\(([^)]*)\))?(.*)")
_UNDEFINE = re.compile(r"\s*#\s*undef\s+(\w+)")
_CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)")
_DEFINED = re.compile(r"defined\s*\(?\s*(\w+)\s*\)?")
_OPERATORS = {"&&": " and ", "||": " or ", "!=": "!=", "!": " not "}
_WORD = re.compile(r"[A-Za-z_]\w*")
_QUALIFIERS = re.compile(r"\b(?:__restrict__|volatile)\b")
_PARAMETER = re.compile(r"(?P<type>[\w\s:]+?)\s*(?P<star>\*?)\s*(?P<name>[A-Za-z_]\w*)")


class UnclearError(Exception):
    """A text that this reader does not understand."""


@dataclass(frozen=True)
class Macro:
    """A macro; `parameters` is None if it has none, not even parentheses."""

    parameters: tuple[str, ...] | None
    body: str


@dataclass(frozen=True)
class KernelParameter:
    """A parameter of a kernel.

    Args:
        name: in the source.
        access: "reads" for a pointer to const, "writes" for another pointer, through which the
            kernel may also read; None for a number.
    """

    name: str
    access: str | None


def signature(text: str, kernel: str) -> tuple[KernelParameter, ...] | None:
    """The parameters of a kernel in a translation unit; None if they are unclear.

    They are unclear if declarations of the kernel differ, also between CPUs and GPUs, or depend on
    a macro that has several definitions.
    """
    try:
        found = {
            tuple(_parameter(each) for each in _split(_expand(declared, macros)))
            for code, macros in (_read(text, predefined) for predefined in COMPILERS)
            for declared in _declarations(code, kernel)
        }
    except UnclearError:
        return None
    return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=32)
def _read(text: str, predefined: tuple[str, ...]) -> tuple[str, Mapping[str, Macro | None]]:
    """The code without directives, and the macros: None if a macro has several definitions."""
    macros: dict[str, Macro | None] = dict.fromkeys(predefined, Macro(None, "1"))
    code = []
    for line in _compiled(_COMMENT.sub(" ", text).replace("\\\n", " ").splitlines(), macros):
        if match := _DEFINE.match(line):
            name, parameters, body = match.groups()
            names = None if parameters is None else tuple(_split(parameters))
            macro = Macro(names, body.strip())
            macros[name] = macro if macros.get(name, macro) == macro else None
        elif match := _UNDEFINE.match(line):
            macros[match[1]] = None
        elif not line.lstrip().startswith("#"):
            code.append(line)
    return "\n".join(code), macros


def _compiled(lines: Iterable[str], macros: Mapping[str, Macro | None]) -> Iterator[str]:
    """The lines that conditions let through; `macros` are those of the lines so far."""
    groups = [(True, True)]  # nested ones: whether lines are compiled, and whether a branch was
    for line in lines:
        if (match := _CONDITION.match(line)) is None:
            if groups[-1][0]:
                yield line
            continue
        kind, condition = match.groups()
        if kind not in ("elif", "else"):
            if kind == "endif":
                groups.pop()
                continue
            groups.append((False, not groups[-1][0]))
        done = groups[-1][1]
        holds = not done and (kind == "else" or _holds(kind, condition, macros))
        groups[-1] = holds, done or holds


def _holds(kind: str, condition: str, macros: Mapping[str, Macro | None]) -> bool:
    """Whether the condition of a directive holds; names that are not macros are 0."""
    if kind in ("ifdef", "ifndef"):
        return (condition.strip() in macros) == (kind == "ifdef")
    text = _DEFINED.sub(lambda each: str(int(each[1] in macros)), condition)
    text = _WORD.sub("0", _expand(text, macros))
    text = re.sub(r"&&|\|\||!=?", lambda each: _OPERATORS[each[0]], text)
    try:
        return bool(simpleeval.simple_eval(text.strip()))
    except (simpleeval.InvalidExpression, SyntaxError) as error:
        raise UnclearError(f"the condition {condition.strip()} is not simple") from error


def _declarations(code: str, kernel: str) -> Iterator[str]:
    """The text between the parentheses of each declaration."""
    for match in re.finditer(rf"\bKERNEL\s+{re.escape(kernel)}\s*(?=\()", code):
        yield code[match.end() + 1 : _closing(code, match.end())]


def _closing(text: str, opening: int) -> int:
    """Index of the parenthesis that closes the one at `opening`."""
    depth = 0
    for n in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[n], 0)
        if depth == 0:
            return n
    raise UnclearError("a parenthesis is not closed")


def _split(text: str) -> list[str]:
    """Parts between commas; the parts of a signature contain no parentheses."""
    return [part.strip() for part in text.split(",")] if text.strip() else []


def _expand(text: str, macros: Mapping[str, Macro | None], depth: int = 0) -> str:
    """The text with its macros expanded."""
    if depth > MAX_DEPTH:
        raise UnclearError("macros are nested too deeply")
    done, position = "", 0
    while match := _WORD.search(text, position):
        done += text[position : match.start()]
        body, position = _substitute(text, match, macros)
        done += body if body == match[0] else _expand(body, macros, depth + 1)
    return done + text[position:]


def _substitute(
    text: str, match: re.Match[str], macros: Mapping[str, Macro | None]
) -> tuple[str, int]:
    """What stands for a word, and where the text goes on."""
    word, end = match[0], match.end()
    if word not in macros:
        return word, end
    macro = macros[word]
    if macro is None:
        raise UnclearError(f"{word} has several definitions")
    if macro.parameters is None:
        return macro.body, end
    if not text[end:].startswith("("):
        return word, end
    close = _closing(text, end)
    given = _split(text[end + 1 : close])
    if len(given) != len(macro.parameters):
        raise UnclearError(f"{word} has other arguments than parameters")
    values = dict(zip(macro.parameters, given, strict=True))
    body = _WORD.sub(lambda each: values.get(each[0], each[0]), macro.body)
    return re.sub(r"\s*##\s*", "", body), close + 1


def _parameter(text: str) -> KernelParameter:
    match = _PARAMETER.fullmatch(_QUALIFIERS.sub(" ", text).strip())
    if match is None:
        raise UnclearError(f"{text} is no simple parameter")
    if not match["star"]:
        return KernelParameter(match["name"], None)
    return KernelParameter(match["name"], "reads" if "const" in match["type"].split() else "writes")
