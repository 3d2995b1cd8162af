r"""Texts from outside are split by their bytes: "\r\n" and a sign with a combining mark are one Character in Swift."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Kept

MARK = "\u0301"


def test_an_editor_inserts_a_comment_that_ends_with_crlf(kept: Kept) -> None:
    assert kept("set", "player", "first=1", "second=2", "third=3").status == 0
    for end in (r"\r\n", r"\r"):
        done = kept("edit", "player", "--yes", more={"EDITOR": rf"sed -i 's|^  \"second\"|  // pasted{end}&|'"})
        assert (done.status, done.out, done.err) == (0, "", "kept: nothing was changed\n"), end
    assert kept("list", "player").out == "first=1\nsecond=2\nthird=3\n"


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_an_editor_may_end_every_line_in_its_way(end: str, start: bytes, kept: Kept, tmp_path: Path) -> None:
    assert kept("set", "player", "first=1", "second=2").status == 0
    text = end.join(["// kept edit", "{", "  // first", '  "first": 7,', '  "second": 2,', "}", ""])
    (tmp_path / "edited").write_bytes(start + text.encode())
    done = kept("edit", "player", "--yes", more={"EDITOR": "cp edited"})
    assert (done.status, done.out) == (0, "~ first: 1 → 7\n"), done.err


def test_a_wrong_text_with_crlf_is_shown_with_its_line(kept: Kept, tmp_path: Path) -> None:
    assert kept("set", "player", "a", "1").status == 0
    (tmp_path / "edited").write_bytes(b'// kept edit\r\n{\r\n  "a": x\r\n}\r\n')
    done = kept("edit", "player", "--yes", more={"EDITOR": "cp edited"})
    assert done.status == 3 and ' (line 3)\n    "a": x\\r\n         ^\n' in done.err, done.err


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_operations_may_end_with_crlf(end: str, kept: Kept) -> None:
    lines = [json.dumps({"set": name, "value": value}) for name, value in (("one", 1), ("two", 2))]
    done = kept("transaction", "player", "--quiet", input=end.join([*lines, "", " \t", ""]))
    assert (done.status, done.err) == (0, "")
    assert kept("list", "player").out == "one=1\ntwo=2\n"
    assert kept("transaction", "player", input=b"\xef\xbb\xbf" + end.join(lines).encode()).status == 0
    wrong = kept("transaction", "player", input=end.join([*lines, "nonsense"]))
    assert wrong.status == 3 and "line 3: " in wrong.err


@pytest.mark.parametrize(("given", "stored"), [("x\r\n", "x"), ("x\n", "x"), ("x", "x"), ("x\r", "x\r"), ("\r\n", "")])
def test_a_value_loses_its_last_line_break(given: str, stored: str, kept: Kept) -> None:
    assert kept("set", "player", "a", "-", "--string", input=given).status == 0
    assert json.loads(kept("get", "player", "a").out) == stored
    assert kept("set", "player", "a", "-", "--string", "--raw", input=given).status == 0
    assert json.loads(kept("get", "player", "a").out) == given


def test_a_value_may_begin_with_a_combining_mark(kept: Kept) -> None:
    assert kept("set", "player", f"a={MARK}x", f"b={MARK}", "--string").status == 0
    assert kept("get", "player", "a", "b").out == f'"{MARK}x"\n"{MARK}"\n'
    assert kept("set", "player", f"c={MARK}").status == 3
    assert kept("get", "player", "none", f"--default={MARK}x").out == f"{MARK}x\n"
    assert kept("get", "player", "none", "--default", f"{MARK}x").out == f"{MARK}x\n"
    done = kept("transaction", "player", f"--expect=a={MARK}y", input='{"set":"d","value":1}')
    assert done.status == 3 and "must be JSON" in done.err


def test_a_key_may_begin_and_end_with_a_combining_mark(kept: Kept) -> None:
    for key in (f"{MARK}a", f"a{MARK}", f"a.{MARK}b"):
        assert kept("set", "player", f"{key}=1").status == 0
        assert kept("get", "player", key).out == "1\n"
        assert kept("transaction", "player", f"--expect={key}=1", f"--expect={key}@1", input="").status in (0, 3)
    assert kept("get", "player", f"a.{MARK}b", "--at", "@3").out == "1\n"
    assert kept("complete", "kept", "get", "player", "a").out == f"a.{MARK}b\na{MARK}\n"
    assert kept("complete", "kept", "set", "player", f"a{MARK}=").out == ""


def test_a_dash_with_a_combining_mark_begins_no_option_and_no_number(kept: Kept) -> None:
    for key in (f"-{MARK}", f"-{MARK}5"):
        done = kept("set", "./store", key, "1")
        assert done.status == 2 and "write -- before it" in done.err, done
        assert kept("set", "./store", "-q", "--", key, "1").err == ""
        assert kept("get", "./store", "--", key).out == "1\n"


def test_a_path_may_have_a_folder_that_begins_with_a_combining_mark(kept: Kept, tmp_path: Path) -> None:
    place = f"{tmp_path}/{MARK}folder/{MARK}store"
    assert kept("set", place, "a", "1").err == f"kept: created the store {place}\n"
    assert kept("get", place, "a").out == "1\n"
    assert kept("get", f"{place}//", "a").out == "1\n"
    assert kept("mark", "good", place).out.endswith(f"{place}.good\n")
    assert kept("backup", place, f"{tmp_path}/{MARK}backup", "--dry-run").status == 0
    assert kept("set", f"./{MARK}relative", "a", "1").status == 0
    assert (tmp_path / f"{MARK}relative").is_dir()
    assert kept("info", f"./{MARK}relative").status == 0


def test_an_at_sign_with_a_combining_mark_begins_no_revision(kept: Kept) -> None:
    assert kept("set", "./store", "a", "1").status == 0
    assert kept("undo", "./store", f"@{MARK}1").status == 2
    assert kept("get", "./store", "a").out == "1\n"
