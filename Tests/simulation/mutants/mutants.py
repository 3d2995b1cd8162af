"""Mutants of Swift code: operators, conditions, orders and constants, at most one in a line, all in one build."""

import dataclasses
import pathlib
import random
import re
from collections.abc import Iterator

_LAZY = "(a: Bool, b: @autoclosure () throws -> Bool) rethrows -> Bool"
_INTEGERS = "<T: FixedWidthInteger>(a: T, b: T) -> T"
# The precedence of operators, their type, and each with what its mutant is; Mutant.swift has ..<- and ??-.
_OPERATORS = (
    ("Comparison", "<T: Equatable>(a: T, b: T) -> Bool", "== != != =="),
    ("Comparison", "<T: Comparable>(a: T, b: T) -> Bool", "< <= <= < > >= >= >"),
    ("LogicalConjunction", _LAZY, "&& ||"),
    ("LogicalDisjunction", _LAZY, "|| &&"),
    ("NilCoalescing", "<T>(a: T?, b: @autoclosure () throws -> T) rethrows -> T", "?? ??-"),
    ("Addition", _INTEGERS, "+ &- - &+ &+ &- &- &+ | &"),
    ("Multiplication", _INTEGERS, "* &+ & |"),
    ("BitwiseShift", "<T: FixedWidthInteger, U: BinaryInteger>(a: T, b: U) -> T", "<< >> >> <<"),
    ("Assignment", "<T: FixedWidthInteger>(a: inout T, b: T)", "+= &-= -= &+="),
    ("RangeFormation", "<T: FixedWidthInteger>(a: T, b: T) -> Range<T>", "..< ..<-"),
)
OPERATORS = {
    sign: (precedence, kind, mutated)
    for precedence, kind, signs in _OPERATORS
    for sign, mutated in zip(signs.split()[::2], signs.split()[1::2], strict=True)
}

_OPERATOR = re.compile(
    " ("
    + "|".join(re.escape(sign) for sign in sorted(OPERATORS, key=len, reverse=True))
    + r") |(?<=[\w)])\.\.<(?=[\w(])"
)
_CONDITION = re.compile(r"(?:\} else )?(if|while|guard) ([^{}]+?) (?:else )?\{")
_STATEMENT = re.compile(
    r"(?:try |_ = |try\? )*(?!(?:if|guard|while|for|return|throw|switch|case|init|self\.init)\b)"
    r"[A-Za-z_][\w.?]*(?:\(.*\)| [-+&|]?= .+)"
)


@dataclasses.dataclass
class Mutant:
    number: int
    path: str
    line: int
    # What it does to the line, for a reader.
    what: str
    code: str
    # An operator that it needs.
    operator: str = ""
    # How many lines it replaces.
    lines: int = 1
    # The line as it was.
    original: str = ""

    @property
    def identity(self) -> tuple[str, str, str]:
        return self.path, self.original, self.what


def _masked(line: str) -> str:
    """The line with no comment, and with the same number of other characters for its strings."""
    if "\\(" in line and (first := line.find('"')) >= 0:
        line = line[: first + 1] + "_" * (line.rfind('"') - first - 1) + line[line.rfind('"') :]
    line = re.sub(r'"(?:\\.|[^"\\])*"', lambda text: '"' + "_" * (len(text[0]) - 2) + '"', line)
    return re.sub("//.*", "", line).rstrip()


def _clauses(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Where the conditions are that commas separate."""
    depth, begin = 0, 0
    for at, character in enumerate(text + ","):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            blank = len(text[begin:at]) - len(text[begin:at].lstrip())
            yield start + begin + blank, start + at
            begin = at + 1


def _statement(line: str) -> str | None:
    code = _masked(line).strip()
    is_whole = all(code.count(one) == code.count(other) for one, other in ("()", "[]", "{}"))
    return line.strip() if is_whole and _STATEMENT.fullmatch(code) else None


def _of_line(lines: list[str], at: int, number: int) -> Iterator[tuple[str, str, str, int]]:
    """What can be done to a line: what it is, the new code, an operator, and how many lines are replaced."""
    line, code = lines[at], _masked(lines[at])
    # Two characters of drawn boxes name an operator.
    name = chr(0x2500 + number // 128) + chr(0x2500 + number % 128)
    indent = line[: len(line) - len(line.lstrip())]

    def replaced(begin: int, end: int, new: str) -> str:
        return line[:begin] + new + line[end:]

    for found in _OPERATOR.finditer(code):
        sign = found[1] or "..<"
        begin = found.start() + (found[1] is not None)
        precedence, kind, mutated = OPERATORS[sign]
        b = "b()" if "autoclosure" in kind else "b"
        bodies = [("try " if b == "b()" else "") + f"a {one} {b}" for one in (mutated, sign)]
        definition = (
            f"infix operator {name}: {precedence}Precedence\n@inline(__always) func {name} {kind} "
            f"{{ if isMutant({number}) {{ {bodies[0]} }} else {{ {bodies[1]} }} }}"
        )
        yield f"{sign} becomes {mutated}", replaced(begin, begin + len(sign), name), definition, 1
    for found in re.finditer(r"(?<![\w.$])(0x[\dA-F_]+|\d[\d_]*)(?!\w|\.\d)", code):
        new = f"either({number}, {found[0]}, {found[0]} + 1)"
        yield f"{found[0]} becomes {found[0]} + 1", replaced(*found.span(), new), "", 1
    for found in re.finditer(r"\b(true|false)\b", code):
        new = f"either({number}, {found[0]}, !{found[0]})"
        yield f"{found[0]} becomes !{found[0]}", replaced(*found.span(), new), "", 1
    for found in re.finditer(r"(?<=[\s(])!(?=[\w(])", code):
        definition = f"prefix operator {name}\n@inline(__always) prefix func {name} (a: Bool) -> Bool "
        definition += f"{{ isMutant({number}) ? a : !a }}"
        yield "! is left out", replaced(*found.span(), name), definition, 1
    for found in re.finditer(r"(?<![\w.])(min|max)\(", code):
        new = {"min": "minOrMax", "max": "maxOrMin"}[found[1]] + f"({number}, "
        yield f"{found[1]} becomes the other", replaced(*found.span(), new), "", 1
    if found := _CONDITION.match(code.strip()):
        start = len(indent) + found.start(2)
        for begin, end in _clauses(found[2], start):
            clause = line[begin:end]
            if re.match(r"(let|var|case|_ =|#)\b", clause):
                continue
            for name in ("always", "never"):
                yield f"{clause} is {name} true", replaced(begin, end, f"{name}({number}, {clause})"), "", 1
        if found[1] != "guard" and re.match("let|var|case", found[2]):
            yield f"{found[2]} never holds", replaced(start, start, f"!isMutant({number}), "), "", 1
    if this := _statement(line):
        yield f"{this} is left out", f"{indent}if !isMutant({number}) {{ {this} }}", "", 1
        following = _statement(lines[at + 1]) if at + 1 < len(lines) else None
        if following and lines[at + 1].startswith(indent + following):
            orders = f"{indent}if isMutant({number}) {{ {following}; {this} }} else {{ {this}; {following} }}"
            yield f"{following} comes before {this}", orders, "", 2
    if found := re.match(r"\s*defer \{ (.+) \}$", code):
        body = line[found.start(1) : found.end(1)]
        yield f"defer {body} is left out", replaced(*found.span(1), f"if !isMutant({number}) {{ {body} }}"), "", 1


def candidates(root: pathlib.Path, folder: str) -> dict[tuple[str, int], list[Mutant]]:
    """For each line of a folder, what can be done to it, in a random order that is always the same."""
    found: dict[tuple[str, int], list[Mutant]] = {}
    number = 0
    for file in sorted((root / folder).rglob("*.swift")):
        path = str(file.relative_to(root))
        lines = file.read_text("utf-8").splitlines()
        for at, line in enumerate(lines):
            if re.match(r"\s*(//|@|import |package import |case .* = |while true )", line):
                continue
            number += 1
            mutants = [Mutant(number, path, at + 1, *rest, line) for rest in _of_line(lines, at, number)]
            random.Random(f"{path} {at} {line}").shuffle(mutants)
            if mutants:
                found[path, at + 1] = mutants
    return found


def chosen(mutants: dict[tuple[str, int], list[Mutant]]) -> list[Mutant]:
    """The first one of each line, unless the line before it has one that replaces both."""
    first = {place: of_line[0] for place, of_line in mutants.items() if of_line}
    return [
        mutant
        for (path, line), mutant in first.items()
        if (before := first.get((path, line - 1))) is None or before.lines == 1
    ]


def write(mutants: list[Mutant], root: pathlib.Path, tree: pathlib.Path, folder: str) -> None:
    """Writes the sources with all mutants."""
    definitions = "\n".join(mutant.operator for mutant in mutants if mutant.operator)
    (tree / folder / "MutantOperators.swift").write_text(definitions + "\n", "utf-8")
    for path in {mutant.path for mutant in mutants}:
        lines = (root / path).read_text("utf-8").splitlines()
        for mutant in mutants:
            if mutant.path == path:
                end = mutant.line - 1 + mutant.lines
                lines[mutant.line - 1 : end] = [mutant.code] + [""] * (mutant.lines - 1)
        (tree / path).write_text("\n".join(lines) + "\n", "utf-8")
