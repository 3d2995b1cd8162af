"""What every command does alike: statuses, errors, stores, streams."""

from __future__ import annotations

import datetime
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conftest import Kept

READING = [
    "get",
    "list",
    "watch",
    "explain",
    "describe",
    "export",
    "backup",
    "doctor",
    "verify",
    "info",
    "reset",
    "secrets",
    "undeclare",
]


@pytest.mark.parametrize("command", READING)
def test_a_command_that_reads_makes_no_store(kept: Kept, command: str, tmp_path: Path) -> None:
    words = ["none"] + (["x"] if command in ("get", "explain", "backup", "reset", "undeclare") else [])
    done = kept(command, *words)
    assert (done.status, done.out) == (4, "")
    assert done.err.startswith("kept: there is no store none")
    assert "kept set, declare, import, restore and transaction create it" in done.err
    assert not (tmp_path / "config").exists()


@pytest.mark.parametrize(
    "words", [[], ["get"], ["get", "player"], ["list", "player", "--frob"], ["frob"], ["set", "player", "a"], ["gett"]]
)
def test_wrong_usage_has_its_own_status(kept: Kept, words: list[str]) -> None:
    done = kept(*words)
    if words:
        assert (done.status, done.out) == (2, "")
        assert done.err.startswith("kept: ")
    else:
        assert (done.status, "explain" in done.out) == (0, True)


def test_the_store_may_come_from_the_environment_or_an_option(kept: Kept) -> None:
    assert kept("set", "a", "1", more={"KEPT_STORE": "player"}).status == 0
    assert kept("get", "a", "--store", "player").out == "1\n"
    assert kept("get", "a", more={"KEPT_STORE": "player"}).out == "1\n"


def test_the_help_and_a_missing_store_lead_to_the_variable(kept: Kept) -> None:
    assert "KEPT_STORE" in kept("help").out and "KEPT_STORE" in kept("--help").out
    done = kept("list")
    assert done.status == 2 and "KEPT_STORE" in done.err
    assert kept("set", "a", "1", more={"KEPT_STORE": "player"}).status == 0
    assert kept("list", more={"KEPT_STORE": "player"}).out == "a=1\n"
    assert kept("list", "--store", "other", more={"KEPT_STORE": "player"}).status == 4


REFUSED = '{"set": "a", "value": 1}\n{"expect": "b", "revision": 7}\n'


LOOKING = (
    "get S a|list S|log S|info S|doctor S|verify S|export S|explain S a|describe S|diff S S|watch S|reset S a|edit S"
    "|undo S|redo S"
)


@pytest.mark.parametrize("words", LOOKING.split("|"))
def test_a_folder_without_a_store_does_not_become_one(words: str, kept: Kept, tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "letter").write_text("x")
    done = kept(*words.replace("S", str(folder)).split())
    assert done.status == 4 and "is a folder without a store" in done.err, done
    assert [path.name for path in folder.iterdir()] == ["letter"]


def test_a_store_in_a_folder_that_exists_is_made_only_by_a_change_and_announced(kept: Kept, tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir(0o700)
    for words in ("set {} a not-json", "set {} a 1 --dry-run", "import {} nowhere.json", "restore {} nowhere"):
        assert "created the store" not in kept(*words.format(folder).split()).err
        assert list(folder.iterdir()) == []
    assert kept("set", str(folder), "a", "1").err == f"kept: created the store {folder}\n"
    assert kept("get", str(folder), "a").out == "1\n"
    # The remains of a damaged store are not a folder without one.
    for name in ("journal.0", "pulse", "values"):
        (folder / name).unlink()
        assert "without a store" not in kept("get", str(folder), "a").err


@pytest.mark.parametrize(
    ("words", "input"),
    [
        ("set {} a not-json", ""),
        ("set {} a=1 b=not-json", ""),
        ("set {} a 1 --if-revision 3", ""),
        ("set {} a 1 --managed locked.json", ""),
        ("transaction {}", REFUSED),
        ("transaction {} --expect a=1", '{"set": "a", "value": 2}'),
    ],
)
def test_changes_that_are_refused_make_no_store(kept: Kept, words: str, input: str, tmp_path: Path) -> None:
    locked = tmp_path / "locked.json"
    locked.write_text('{"locked": ["a"]}')
    locked.chmod(0o600)
    for location in ("com.example.player", str(tmp_path / "player.kept")):
        done = kept(*words.format(location).split(), input=input)
        assert done.status == 3 and "created the store" not in done.err and done.err.count("kept: ") == 1, done
    assert [path.name for path in tmp_path.rglob("*.kept")] == []


WRONG = [
    ("import {} wrong.json", ""),
    ("import {} wrong.env", ""),
    ("import {} -", '{"a": 700, "'),
    ("import {} -", '{"kept": 1, "values": {"": 1}}'),
    ("restore {} wrong.json", ""),
    ("restore {} nowhere", ""),
    ("declare {} -", '{"properties": {"a": {"type": "integer", "default": "x"}}}'),
]


@pytest.mark.parametrize(("words", "input"), WRONG)
def test_an_import_a_restore_or_a_declaration_that_is_refused_makes_no_store(
    words: str, input: str, kept: Kept, tmp_path: Path
) -> None:
    (tmp_path / "wrong.json").write_text("{")
    (tmp_path / "wrong.env").write_text("no pair here\n")
    for location in ("com.example.player", str(tmp_path / "player.kept")):
        done = kept(*words.format(location).split(), input=input)
        assert done.status in (3, 4) and "created the store" not in done.err, done
        assert kept("stores").out == ""
    assert [path.name for path in tmp_path.rglob("*.kept")] == []


def test_an_import_of_secrets_that_the_store_would_show_makes_no_store(declared: Kept, tmp_path: Path) -> None:
    assert declared("set", "player", "token", "hunter2").status == 0
    exported = declared("export", "player", "--secrets", "--plain", "--declarations").out
    done = declared("import", "other", "-", input=exported)
    assert done.status == 3 and "is a secret in the file" in done.err
    assert declared("stores").out == "player\n"
    assert declared("secrets", "other", "init", "--plain").status == 0
    assert declared("import", "other", "-", "--declarations", input=exported).status == 0


def test_a_new_store_is_announced_with_the_one_that_was_meant(kept: Kept) -> None:
    assert kept("set", "com.example.player", "a", "1").err == "kept: created the store com.example.player\n"
    assert kept("set", "com.example.player", "a", "2").err == ""
    meant = '; did you mean "com.example.player"?'
    assert kept("get", "com.example.plyer", "a").err.endswith(f"does not exist{meant}\n")
    dry = kept("set", "com.example.plyer", "a", "1", "--dry-run")
    assert dry.err == f"kept: would create the store com.example.plyer{meant}\n"
    assert kept("set", "com.example.plyer", "a", "1").err == f"kept: created the store com.example.plyer{meant}\n"
    assert kept("set", "com.example.other", "a", "1", "--quiet").err == ""


def test_stores_are_in_the_home_of_the_user_database_where_no_variable_names_one(
    environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "passwd").write_text(f"someone:x:{os.geteuid()}:0::{tmp_path}/home:/bin/sh\n")
    # A user database of its own, in a mount namespace.
    with_users = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"', f"{tmp_path}/passwd"]
    if subprocess.run([*with_users, "true"], capture_output=True).returncode != 0:
        pytest.skip("this user may not mount a file")
    homeless = {name: text for name, text in environment.items() if name not in {"HOME", "XDG_CONFIG_HOME"}}
    for words in (["set", "com.example.homely", "a", "1"], ["stores"]):
        done = subprocess.run(
            [*with_users, environment["KEPT_COMMAND"], *words], env=homeless, capture_output=True, text=True, check=True
        )
    assert "com.example.homely" in done.stdout
    assert (tmp_path / "home/.config/kept/com.example.homely.kept/values").exists()


def test_a_store_may_be_a_path(kept: Kept, tmp_path: Path) -> None:
    path = str(tmp_path / "store")
    assert kept("set", path, "a", "1").status == 0
    assert kept("get", path, "a").out == "1\n"


def test_a_store_whose_checkpoint_is_a_folder_is_unavailable(kept: Kept, tmp_path: Path) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    (folder / "values").mkdir()
    done = kept("get", str(folder), "a")
    assert (done.status, done.out) == (4, "")


def test_a_terminal_has_a_table_and_colours_unless_they_are_not_wanted(environment: dict[str, str]) -> None:
    program = environment["KEPT_COMMAND"]
    subprocess.run([program, "set", "player", "a", "1"], env=environment, check=True)
    shown = [
        subprocess.run(
            ["script", "-qec", f"{program} list player", "/dev/null"],
            capture_output=True,
            text=True,
            env=environment | {"TERM": "xterm"} | more,
            stdin=subprocess.DEVNULL,
            check=True,
        ).stdout
        for more in ({}, {"NO_COLOR": "1"})
    ]
    assert all("KEY" in text and "LAYER" in text for text in shown)
    assert ["\x1b[" in text for text in shown] == [True, False]


def test_the_manual_has_a_page_for_each_command(kept: Kept, tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    assert kept("manual", "--into", str(pages)).status == 0
    commands = kept("complete", "kept", "").out.split()
    assert {f"kept-{command}.1" for command in commands} | {"kept.1"} == {
        page for page in os.listdir(pages) if page.endswith(".1")
    }
    for command in commands:
        assert kept("help", command).out.startswith("OVERVIEW: ")
        # The browser has help of its own.
        if command != "browse":
            assert kept(command, "--help").out == kept("help", command).out


def test_every_page_of_the_manual_renders_without_a_warning(kept: Kept, tmp_path: Path) -> None:
    assert kept("manual", "--into", str(tmp_path)).status == 0
    locale = os.environ | {"LC_ALL": "C.UTF-8", "MANWIDTH": "80"}
    for page in sorted(tmp_path.glob("*.1")):
        groff = ["groff", "-man", "-ww", "-Kutf8", "-Tutf8", str(page)]
        done = subprocess.run(groff, capture_output=True, text=True, env=locale, check=True)
        assert done.stderr == "", page
        man = ["man", "--warnings", "--local-file", str(page)]
        done = subprocess.run(man, capture_output=True, text=True, env=locale, check=True)
        assert done.stderr == "" and "`" not in done.stdout, page
        assert "NAME\n" in done.stdout and "SYNOPSIS\n" in done.stdout
    everything = kept("manual").out
    assert everything == (tmp_path / "kept.1").read_text()
    for topic in ("EXAMPLES", "STORE", "VALUES", "LAYERS", "PAST", "OUTPUT", "SCRIPTS", "EXIT STATUS", "ENVIRONMENT"):
        assert f".SH {topic}\n" in everything


def test_a_page_of_the_manual_has_the_day_of_the_version(kept: Kept) -> None:
    version = kept("--version").out.split()[1]
    for page in ([], ["get"]):
        title = shlex.split(kept("manual", *page).out.splitlines()[0])
        assert title[0] == ".TH" and title[4] == f"Kept {version}"
        day = datetime.date.fromisoformat(title[3])
        # A release has its day in the changelog.
        changes = (Path(__file__).parents[3] / "CHANGELOG.md").read_text()
        released = re.search(rf"^## {re.escape(version)}\D+(\d{{4}}-\d{{2}}-\d{{2}})", changes, re.MULTILINE)
        assert released is None or day == datetime.date.fromisoformat(released[1])


def test_the_help_shows_its_examples_as_they_are_typed(kept: Kept) -> None:
    text = kept("--help").out
    page = (Path(__file__).parents[3] / "docs/guide/command.md").read_text()
    examples = page.split("```sh\n")[1].split("```")[0].splitlines()
    assert len(examples) > 5
    for example in examples:
        assert example in text.splitlines() and len(example) <= 80, example
    for command in ["", *kept("complete", "kept", "").out.split()]:
        lines = kept("help", *command.split()).out.splitlines()
        assert max(map(len, lines)) <= 80, (command, max(lines, key=len))
        # What has columns of its own is not broken either.
        description = kept("manual", *command.split()).out.split(".SH DESCRIPTION\n")[-1].split(".SH ")[0]
        for block in description.split(".nf\n")[1:] if command else []:
            code = block.split(".fi\n")[0]
            for escape, sign in {"-": "-", "&": "", "(aq": "'", "(ga": "`", "(ha": "^", "(ti": "~", "e": "\\"}.items():
                code = code.replace(f"\\{escape}", sign)
            assert set(code.splitlines()) <= set(lines), command
        # A line of a usage that is too long would be broken.
        used = [line for line in lines if line.startswith(("USAGE: ", "       kept"))]
        assert all(line.split(":")[-1].strip().startswith("kept") for line in used)


def test_every_topic_is_listed_and_explained(kept: Kept) -> None:
    topics = [line.split()[0] for line in kept("help", "topics").out.splitlines()[1:]]
    assert {"examples", "store", "values", "layers", "past", "output", "scripts", "exit-status"} <= set(topics)
    for topic in topics:
        done = kept("help", topic)
        title, _, first = done.out.splitlines()[:3]
        assert (done.status, title.lower().replace(" ", "-")) == (0, topic)
        assert first and max(map(len, done.out.splitlines())) <= 100
        assert topic in kept("--help").out
    assert 'did you mean "values"?' in kept("help", "value").err
    assert kept("help", "get", "set").status == 2


def test_an_option_that_a_command_does_not_honour_is_an_error(kept: Kept, tmp_path: Path) -> None:
    # The browser reads its words itself.
    commands = [command for command in kept("complete", "kept", "").out.split() if command != "browse"]
    options = {command: set(kept("complete", "kept", command, "--").out.split()) for command in commands}
    others = sorted(set().union(*options.values()) - {"--help", "--version"})
    cases = [(command, option) for command in commands for option in others if option not in options[command]]

    def refused(case: tuple[str, str]) -> bool:
        done = kept(case[0], "player", case[1], "x")
        return done.status == 2 and done.out == "" and done.err.startswith("kept: ") and done.err.count("\n") == 1

    with ThreadPoolExecutor(4) as pool:
        assert [case for case, good in zip(cases, pool.map(refused, cases), strict=True) if not good] == []
    assert len(cases) > 500
    assert not (tmp_path / "config").exists()


@pytest.mark.parametrize(
    "words",
    [
        "get player a --quiet --raw",
        "get player a --quiet --default 1",
        "get player a --quiet --reveal",
        "get player a --json --raw",
        "get player a b --raw",
        "get player a --at @1 --managed file",
        "get player a --at @1 --env-prefix P_",
        "get player a --no-layers --managed file",
        "list player --json --null",
        "list player --tree --json",
        "set player a 1 --raw",
        "set player a 1 --string --type string",
        "set player a=1 b=2 --if-revision 0",
        "set player a=- b=-",
        "set player a 1 --if-revision -1",
        "watch player --count 0",
        "watch player --timeout -1",
        "watch player --quiet --json",
        "watch player --quiet --initial",
        "log player --limit 0",
        "diff player other --quiet --json",
        "doctor player --dry-run",
        "doctor player --quiet --json",
        "import player - --quiet --json",
        "import player - --format env --declarations",
        "import player - --format json --env-prefix P_",
        "import player - --format xml",
        "restore player file --last-good",
        "stores player",
        "transaction player --expect a",
        "transaction player --expect a@x",
    ],
)
def test_options_that_exclude_each_other_are_an_error(words: str, kept: Kept, tmp_path: Path) -> None:
    done = kept(*words.split(), input="{}")
    assert (done.status, done.out) == (2, ""), done.err
    assert done.err.startswith("kept: ")
    assert not (tmp_path / "config").exists()


@pytest.mark.parametrize("number", ["-5", "-0.5", "-.5"])
def test_a_negative_number_is_a_value_wherever_one_may_stand(number: str, kept: Kept) -> None:
    assert kept("set", "player", "a=1").status == 0
    assert kept("get", "player", "b", "--default", number).out == f"{number}\n"
    assert kept("get", "player", "b", f"--default={number}").out == f"{number}\n"
    assert kept("get", "--default", number, "player", "b").out == f"{number}\n"
    stored = number.replace("-.", "-0.")
    assert kept("set", "player", "a", stored).status == 0
    assert kept("get", "player", "a").out == f"{stored}\n"
    assert kept("transaction", "player", "--expect", f"a={stored}", input='{"set":"a","value":1}').status == 0


def test_explain_takes_a_key_that_begins_with_a_dash_and_arguments_behind_it(kept: Kept) -> None:
    assert kept("set", "player", "--string", "--", "-key", "value").status == 0
    assert kept("set", "player", "volume", "7").status == 0
    for words in (
        "player -- -key", "--store player -- -key", "-- player -key", "player --json -- -key", "player -- -key -- -x 1",
        "-- player -key -- -volume 9",
    ):  # fmt: skip
        done = kept("explain", *words.split())
        assert done.status == 0 and "value" in done.out, (words, done)
    assert kept("explain", "-- -key".split()[0], "-key", more={"KEPT_STORE": "player"}).status == 0
    overridden = "the argument -volume sets it"
    assert overridden in kept("explain", "player", "volume", "--", "-volume", "9").out
    assert overridden in kept("explain", "player", "--", "volume", "--", "-volume", "9").out
    assert overridden not in kept("explain", "player", "--", "volume").out
    assert kept("explain", "player", "--").status == 2
    assert kept("explain", "--", "player").status == 2
    wrong = kept("explain", "player", "--", "-key", "another")
    assert wrong.status == 2 and "unexpected argument" in wrong.err


@pytest.mark.parametrize(
    ("word", "meant"),
    [("unset", "reset"), ("delete", "reset"), ("rm", "reset"), ("ls", "list"), ("history", "log"), ("gett", "get")],
)
def test_a_command_of_another_program_gets_a_suggestion(word: str, meant: str, kept: Kept) -> None:
    done = kept(word, "player", "a")
    assert done.status == 2
    listing = "kept --help lists the commands"
    assert done.err == f'kept: "{word}" is not a kept command; {listing}; did you mean "{meant}"?\n'


def test_a_store_in_the_environment_that_is_not_utf_8_is_an_error(kept: Kept, environment: dict[str, str]) -> None:
    assert kept("set", "player", "a", "1").status == 0
    given = {name.encode(): value.encode() for name, value in environment.items()} | {b"KEPT_STORE": b"b\xfcro"}
    for words in (["get", "player", "a"], ["set", "player", "a=2"], ["list", "player"]):
        done = subprocess.run([environment["KEPT_COMMAND"], *words], env=given, capture_output=True, check=False)
        assert done.returncode == 2 and b"is not UTF-8" in done.stderr, words
    assert kept("get", "player", "a").out == "1\n"


def test_a_key_that_begins_with_a_dash_stands_after_two(kept: Kept) -> None:
    assert kept("set", "player", "--", "-key", "-value").status == 3
    assert kept("set", "player", "--string", "--", "-key", "-value").status == 0
    assert kept("get", "player", "--", "-key").out == '"-value"\n'
    wrong = kept("get", "player", "-key")
    assert wrong.status == 2 and "write -- before it" in wrong.err
