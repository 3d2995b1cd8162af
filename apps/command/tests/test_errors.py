"""`kept help errors` and `kept help CODE`: every code of kept.h, with its names in three languages."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from conftest import Kept

ROOT = Path(__file__).parents[3]
HEADER = (ROOT / "include/kept.h").read_text()
STATUS = re.compile(r"#define (KEPT_[A-Z_]+) +(-?\d+) ", re.MULTILINE)
CODES = {name: int(number) for name, number in STATUS.findall(HEADER[: HEADER.index("} kept_error;")]) if number != "0"}
SECTIONS = {
    section.splitlines()[0]: section for section in (ROOT / "docs/guide/errors.md").read_text().split("\n## ")[1:]
}


def title(name: str) -> str:
    return name.removeprefix("KEPT_").replace("_", " ").capitalize()


def names_in_swift() -> dict[int, str]:
    source = (ROOT / "Sources/KeptValues/Errors/StoreError.swift").read_text()
    return {int(number): name for name, number in re.findall(r"static let (\w+) = Code\(rawValue: (-?\d+)\)", source)}


def names_in_python() -> dict[int, str]:
    """The exceptions, each with its `status`, and the warnings, which are named after the code."""
    tree = ast.parse((ROOT / "bindings/python/src/kept/_errors.py").read_text())
    found = {}
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        if node.name.endswith("Warning"):
            found[CODES["KEPT_" + node.name.removesuffix("Warning").upper()]] = node.name
        for line in node.body if node.name != "KeptError" else []:
            if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "status":
                found[ast.literal_eval(line.value)] = node.name
    return found


def test_the_header_was_read() -> None:
    assert len(CODES) > 15 and CODES["KEPT_BUSY"] == -7
    assert set(names_in_swift()) == set(CODES.values())
    # A deprecated key is a message of the log there.
    assert set(names_in_python()) == set(CODES.values()) - {CODES["KEPT_DEPRECATED"]}


def test_each_code_has_its_section_and_each_section_its_code() -> None:
    assert list(SECTIONS) == [title(name) for name in CODES]


@pytest.mark.parametrize("name", CODES)
def test_a_section_has_the_names_and_the_number_a_cause_and_a_remedy(name: str) -> None:
    section = SECTIONS[title(name)]
    number = CODES[name]
    names = f"`{name}` ({number}), `StoreError.Code.{names_in_swift()[number]}`, "
    if number in names_in_python():
        names += f"`kept.{names_in_python()[number]}`\n"
    assert names in section
    assert "\nCauses:\n\n- " in section and "\nWhat to do:\n\n- " in section


@pytest.mark.parametrize("name", CODES)
def test_help_explains_a_code_by_each_of_its_names(name: str, kept: Kept) -> None:
    word = name.removeprefix("KEPT_").replace("_", "-").lower()
    done = kept("help", word)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(title(name) + "\n") and name in done.out and "What to do:\n" in done.out
    swift = names_in_swift()[CODES[name]]
    for other in [name, swift, f"StoreError.Code.{swift}", names_in_python().get(CODES[name], name)]:
        assert kept("help", other).out == done.out, other


def test_the_topic_errors_and_the_manual_list_the_codes(kept: Kept) -> None:
    lines = kept("help", "errors").out.splitlines()
    manual = kept("manual").out.split(".SH ERRORS\n")[1].split(".SH ")[0]
    for name in CODES:
        word = name.removeprefix("KEPT_").replace("_", "-").lower()
        assert any(line.strip().startswith(word + "  ") for line in lines), word
        assert f"\n.TP\n{word}\n".replace("-", "\\-") in manual, word
    assert "errors" in kept("help", "topics").out


def test_codes_are_completed_and_a_wrong_one_is_named(kept: Kept) -> None:
    assert kept("complete", "kept", "help", "too-").out == "too-large\n"
    wrong = kept("help", "buzy")
    assert wrong.status == 2
    assert wrong.err.startswith('kept: "buzy" is not a kept command, topic or error code; ')
    assert wrong.err.endswith('; did you mean "busy"?\n')


@pytest.mark.parametrize("word", ["-7", "Busy", "BUSY", "kept_busy"])
def test_a_code_is_found_by_its_number_and_in_any_case(word: str, kept: Kept) -> None:
    done = kept("help", word)
    assert (done.status, done.out) == (0, kept("help", "busy").out), done
    assert kept("help", "wrong type").out == kept("help", "wrong-type").out != ""


def test_a_wrong_word_leads_to_all_lists(kept: Kept) -> None:
    err = kept("help", "nonsense").err
    assert all(command in err for command in ("kept --help", "kept help topics", "kept help errors"))
