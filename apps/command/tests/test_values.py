"""Reading and writing values: what get prints, set takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Kept


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("audio.volume", "70"),
        ("audio.balance", "-0.5"),
        ("audio.muted", "true"),
        ("title", "hello"),
        ("title", ""),
        ("title", '"quoted" = [1]'),
        ("title", "two\nlines\twith\ttabs"),
        ("title", "\x1b[31mred 😀 e\u0301 \u202e"),
        ("started", "2026-11-20T23:44:01.25Z"),
        ("icon", "AAEC/w=="),
        ("icon", ""),
        ("tags", '["a","b\\n"]'),
        ("window", '{"x":1,"y":{"z":[]}}'),
        ("undeclared", '"text"'),
        ("undeclared", "[1,2.5,null]"),
    ],
)
def test_what_get_prints_set_takes(declared: Kept, key: str, text: str) -> None:
    flags = ["--undeclared"] if key == "undeclared" else []
    assert declared("set", "player", key, text, *flags).status == 0
    printed = declared("get", "player", key)
    assert (printed.status, printed.out) == (0, text + "\n")
    assert declared("reset", "player", key).status == 0
    assert declared("set", "player", key, "-", *flags, input=printed.out).status == 0
    assert declared("get", "player", key).out == text + "\n"


def test_raw_has_every_byte_and_no_line_break(declared: Kept) -> None:
    assert declared("set", "player", "title", "-", "--raw", input="a\n\n").status == 0
    assert declared("get", "player", "title", "--raw").out == "a\n\n"
    assert declared("set", "player", "icon", "AAH/").status == 0
    assert declared("get", "player", "icon", "--raw").out == "\x00\x01\udcff"


def test_an_undeclared_value_is_json_and_never_guessed(kept: Kept) -> None:
    done = kept("set", "player", "title", "hello")
    assert (done.status, done.out) == (3, "")
    assert '"hello"' in done.err and "--string" in done.err
    assert kept("set", "player", "title", "--string", "2").status == 0
    assert kept("get", "player", "title").out == '"2"\n'
    assert kept("set", "player", "count", "2").status == 0
    assert kept("get", "player", "count", "--type", "integer").out == "2\n"
    assert kept("get", "player", "count", "--type", "string").status == 3


def test_several_keys_are_set_together_or_not_at_all(declared: Kept) -> None:
    assert declared("set", "player", "audio.volume=7", "title=a=b").status == 0
    assert declared("get", "player", "title", "audio.volume").out == "a=b\n7\n"
    refused = declared("set", "player", "title=new", "audio.volume=700")
    assert refused.status == 3
    assert "maximum 100" in refused.err
    assert declared("get", "player", "title").out == "a=b\n"


def test_negative_numbers_need_no_separator(declared: Kept) -> None:
    assert declared("set", "player", "audio.balance", "-5").status == 0
    assert declared("get", "player", "audio.balance").out == "-5.0\n"


def test_a_dry_run_shows_the_change_and_changes_nothing(declared: Kept) -> None:
    done = declared("set", "player", "audio.volume", "7", "--dry-run")
    assert (done.status, done.out) == (0, "+ audio.volume: 7\n")
    assert declared("get", "player", "audio.volume").out == "50\n"
    assert declared("set", "player", "audio.volume", "700", "--dry-run").status == 3


def test_a_wrong_key_is_refused_with_the_one_that_was_meant(declared: Kept) -> None:
    done = declared("set", "player", "audio.volum", "7")
    assert done.status == 3
    assert 'did you mean "audio.volume"?' in done.err
    assert declared("set", "player", "new", "7", "--undeclared").status == 0
    assert "holds a string, but --type is integer" in declared("get", "player", "audio.theme", "--type", "integer").err
    absent = declared("get", "player", "audio.volumes")
    assert absent.status == 1
    assert 'did you mean "audio.volume"?' in absent.err


def test_an_absent_key_has_a_status_and_may_have_a_default(declared: Kept) -> None:
    assert declared("get", "player", "title").status == 1
    assert declared("get", "player", "title", "--default", "none").out == "none\n"
    assert declared("get", "player", "title", "--quiet").err == ""
    assert declared("reset", "player", "title").status == 0


def test_a_revision_guards_against_others(kept: Kept) -> None:
    assert kept("set", "player", "a", "1", "--if-revision", "0").status == 0
    conflict = kept("set", "player", "a", "2", "--if-revision", "0")
    assert conflict.status == 3
    assert kept("set", "player", "a", "2", "--if-revision", "1").status == 0
    assert kept("get", "player", "a").out == "2\n"


def test_a_secret_is_shown_only_when_asked_for(declared: Kept) -> None:
    assert declared("set", "player", "token", "hunter2").status == 0
    outputs = [
        declared("get", "player", "token"),
        declared("list", "player"),
        declared("list", "player", "--json"),
        declared("list", "player", "--tree"),
        declared("list", "player", "--null"),
        declared("explain", "player", "token"),
        declared("explain", "player", "token", "--json"),
        declared("export", "player"),
        declared("set", "player", "token", "hunter23", "--dry-run"),
        declared("watch", "player", "--initial", "--timeout", "0.01"),
    ]
    assert all("hunter2" not in done.out + done.err for done in outputs)
    assert declared("get", "player", "token", "--reveal").out == "hunter2\n"


def test_a_fraction_is_answered_with_the_whole_numbers_beside_it(declared: Kept) -> None:
    done = declared("set", "player", "audio.volume", "70.5")
    assert (done.status, 'takes a whole number, not "70.5"; use 70 or 71' in done.err) == (3, True)
    assert declared("set", "player", "audio.volume", "70.0").status == 0
    assert "the first word" in declared("set", "audio.volume", "70").err
    assert 'did you mean "list"?' in declared("lsit", "player").err


def test_an_integer_above_int64_is_taken_as_it_is_written(kept: Kept, tmp_path: Path) -> None:
    large = "18446744073709551615"
    kept("declare", "player", "-", input='{"properties": {"size": {"type": "integer"}}}')
    stored = f'{{"$numberULong":"{large}"}}'
    loose = ["--undeclared"]
    for key, more in [("size", []), ("other", loose), ("typed", [*loose, "--type=integer"])]:
        done = kept("set", "player", key, large, *more)
        assert (done.status, kept("get", "player", key, "--json").out) == (0, f"{stored}\n"), done.err
    # A larger number is a number, too: the message says why it is refused.
    for key, more in [("size", []), ("other", loose)]:
        done = kept("set", "player", key, "18446744073709551616", *more)
        assert done.status == 3
        assert "an integer has more than 64 bits; write a double such as 1e20, or a string" in done.err
        assert "is none" not in done.err
    file = tmp_path / "settings.env"
    file.write_text(f"size={large}\n")
    assert kept("reset", "player", "size").status == 0
    assert kept("import", "player", str(file)).status == 0
    assert kept("get", "player", "size", "--json").out == f"{stored}\n"


@pytest.mark.parametrize(("wrong", "meant"), [("lsit", "list"), ("tsil", ""), ("udno", "undo"), ("odnu", "")])
def test_two_letters_that_have_changed_places_are_one_mistake(wrong: str, meant: str, kept: Kept) -> None:
    err = kept(wrong, "player").err
    assert f'did you mean "{meant}"?' in err if meant else "did you mean" not in err


def test_null_is_not_a_value(kept: Kept) -> None:
    assert kept("set", "player", "a", "1").status == 0
    for done in (
        kept("set", "player", "a", "null"),
        kept("set", "player", "a", "null", "--dry-run"),
        kept("transaction", "player", input='{"set": "a", "value": null}'),
    ):
        assert (done.status, "kept reset" in done.err) == (3, True), done
    assert kept("get", "player", "a").out == "1\n"


def test_a_value_that_does_not_match_its_declaration_is_said_to_be_there(kept: Kept) -> None:
    assert kept("set", "player", "v", "5").status == 0
    assert kept("declare", "player", "-", input='{"properties": {"v": {"type": "string"}}}').status == 0
    done = kept("get", "player", "v")
    assert (done.status, done.out) == (1, "")
    assert "does not match its declaration" in done.err and "kept explain" in done.err
