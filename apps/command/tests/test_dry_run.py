"""--dry-run of each command that writes: it shows the change, makes none, and has the status of the change."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import SCHEMA, Kept, environment_in, runner


@dataclass(frozen=True)
class Case:
    words: str
    status: int
    input: str = ""
    editor: str = "false"
    # What the dry run prints, where `kept diff` cannot tell it.
    out: str = ""


OK = [
    Case("set player audio.volume 7", 0),
    Case("set player audio.volume 60", 0),
    Case("set player audio.volume=7 title=x audio.balance=-5", 0),
    Case("set player new 1 --undeclared", 0),
    Case("reset player audio.volume title", 0),
    Case("reset player audio. --prefix", 0),
    Case("import player -", 0, '{"audio.volume": 1, "title": "b"}'),
    Case("import player - --replace", 0, '{"title": "b"}'),
    Case("transaction player --expect title=a", 0, '{"set":"title","value":"b"}\n{"reset":"audio.volume"}'),
    Case("transaction player --expect title@2", 0, '{"set":"title","value":"b"}'),
    Case("edit player --yes", 0, "", "sed -i s/60/61/"),
    Case("restore player backup", 0),
    Case("restore player --last-good", 0),
    Case("restore player @2", 0),
    Case("undo player", 0),
    Case("undo player 3", 0),
]
OTHER = [
    Case(
        "declare player -",
        0,
        '{"properties":{"new":{"type":"date"}}}',
        out='+ declaration of new: {"type":"date"}\n',
    ),
    Case(
        "declare player -",
        0,
        '{"properties":{"title":{"type":"string","summary":"x"}}}',
        out='~ declaration of title: {"type":"string"} → {"summary":"x","type":"string"}\n',
    ),
    Case(
        "declare player -",
        0,
        '{"properties":{"headline":{"type":"string","renamedFrom":"title"}}}',
        out='+ headline: "a"\n- title: "a"\n+ declaration of headline: {"renamedFrom":"title","type":"string"}\n',
    ),
    Case(
        "declare player -",
        0,
        '{"properties":{"headline":{"type":"string","secret":true,"renamedFrom":"title"}}}',
        out="+ headline: (secret)\n- title: (secret)\n"
        '+ declaration of headline: {"renamedFrom":"title","secret":true,"type":"string"}\n'
        '~ declaration of title: {"type":"string"} → {"secret":true,"type":"string"}\n',
    ),
    Case(
        "declare player -",
        0,
        '{"properties":{"headline":{"type":"string","renamedFrom":"title"},'
        '"heading":{"type":"string","renamedFrom":"title"}}}',
        out='+ heading: "a"\n+ headline: "a"\n- title: "a"\n'
        '+ declaration of heading: {"renamedFrom":"title","type":"string"}\n'
        '+ declaration of headline: {"renamedFrom":"title","type":"string"}\n',
    ),
    Case("undeclare player title", 0, out='- declaration of title: {"type":"string"}\n'),
    Case("mark good player", 0, out="~ audio.volume: 5 → 60\n"),
    Case("backup player fresh", 0, out="fresh would have the store at revision 3\n"),
]
REFUSED = [
    Case("set player audio.volume 700", 3),
    Case("set player audio.volume loud", 3),
    Case("set player audio.volum 7", 3),
    Case("set player tags [1,", 3),
    Case("set player audio.volume 7 --if-revision 99", 3),
    Case("set player audio.theme dark --managed managed", 3),
    Case("set player audio.volume", 2),
    Case("reset player audio.theme --managed managed", 3),
    Case("reset player audio.volum", 3),
    Case("import player -", 3, '{"audio.volume": 700, "title": "b"}'),
    Case("import player -", 3, '{"audio.volume": '),
    Case("import player nowhere", 4),
    Case("transaction player --expect title=b", 3, '{"set":"title","value":"c"}'),
    Case("transaction player --expect title@7", 3, '{"set":"title","value":"c"}'),
    Case("transaction player", 3, '{"set":"title","value":"c"}\n{"expect":"audio.volume","revision":99}'),
    Case("transaction player", 3, '{"set":"title","value":"c"}\n{"set":"audio.volume","value":700}'),
    Case("transaction player", 3, "nonsense"),
    Case("edit player --yes", 3, "", "sed -i s/60/700/"),
    Case("edit player --yes", 3, "", "sed -i s/60/x/"),
    Case("edit player --yes", 4, "", "false"),
    Case("restore player nowhere", 4),
    Case("restore player managed", 4),
    Case("undo player 77", 4),
    Case("undo player 1", 4),
    Case("undo player 2", 3),
    Case("declare player -", 3, '{"properties":{"new":{"type":"dat"}}}'),
    Case("declare player -", 3, '{"properties":{"title":{"type":"date"}}}'),
    Case("declare player -", 3, '{"properties":'),
    Case("undeclare player titel", 1),
    Case("backup player backup", 3),
    Case("backup player nowhere/x", 4),
    Case("mark player", 2),
]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a past, a backup and a mark, and an administrator's file that locks a key."""
    folder = tmp_path_factory.mktemp("template")
    kept = runner(environment_in(folder))
    (folder / "managed").write_text('{"values": {}, "locked": ["audio.theme"]}')
    (folder / "managed").chmod(0o600)
    assert kept("secrets", "player", "init", "--plain").status == 0
    assert kept("declare", "player", "-", input=SCHEMA).status == 0
    assert kept("set", "player", "audio.volume=5", "title=a").status == 0
    assert kept("backup", "player", "backup").status == 0
    assert kept("mark", "good", "player").status == 0
    assert kept("set", "player", "audio.volume", "60").status == 0
    assert kept("backup", "player", "before").status == 0
    return folder


@pytest.fixture
def home(template: Path, tmp_path: Path) -> Path:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.lock"))
    return tmp_path


def contents(kept: Kept, folder: Path) -> str:
    """Values, declarations, the revision, and the names of all files but those of `edit`."""
    names = sorted(str(path) for path in folder.rglob("*") if not path.name.startswith("kept-"))
    return "\n".join([kept("export", "player", "--declarations", "--secrets", "--plain").out, *names])


def without_names(err: str) -> str:
    """Errors without the name of a draft, and without the sum of an import that was not made."""
    return re.sub(r"kept-\w+\.json| \(1 key is refused, and nothing was imported\)", "", err)


@pytest.mark.parametrize("case", OK + OTHER + REFUSED, ids=lambda case: f"{case.words} {case.input}{case.editor}")
def test_a_dry_run_says_what_will_happen_and_does_nothing(case: Case, kept: Kept, home: Path) -> None:
    before = contents(kept, home)
    words, editor = case.words.split(), {"EDITOR": case.editor}
    dry = kept(*words, "--dry-run", input=case.input, more=editor)
    assert dry.status == case.status, dry.err
    assert contents(kept, home) == before
    real = kept(*words, input=case.input, more=editor)
    assert real.status == dry.status, real.err
    if case in REFUSED:
        assert contents(kept, home) == before
        assert dry.err.startswith("kept: ") and real.err.startswith("kept: ")
        assert without_names(dry.err) == without_names(real.err)
    elif case in OTHER:
        assert dry.out == case.out
    else:
        found = kept("diff", "before", "player").out
        # An import does not know the values that it would remove.
        shown = dry.out if "import" not in words else "".join(f"{line}\n" for line in dry.out.splitlines()[:-1])
        expected = found if "--replace" not in words else found.replace("- audio.volume: 60", "- audio.volume")
        assert sorted(shown.splitlines()) == sorted(expected.splitlines())


@pytest.mark.parametrize(
    ("words", "status", "input"),
    [
        ("set none a 1", 0, ""),
        ("set none a x", 3, ""),
        ("declare none -", 0, '{"properties":{"new":{"type":"date"}}}'),
        ("import none -", 0, '{"a": 1}'),
        ("import none -", 3, '{"a": '),
        ("import none -", 3, f'{{"kept": 1, "values": {{"a": {"[" * 200}{"]" * 200}}}}}'),
        ("set none a 1 --if-revision 9", 3, ""),
        ("declare none -", 3, '{"properties":{"new":{"type":"dat"}}}'),
        ("restore none managed", 4, ""),
        ("transaction none --expect a=2", 3, '{"set":"a","value":1}'),
        ("restore none backup", 0, ""),
        ("transaction none", 0, '{"set":"a","value":1}'),
        ("reset none a", 4, ""),
        ("undeclare none a", 4, ""),
        ("undo none", 4, ""),
        ("redo none", 4, ""),
        ("edit none", 4, ""),
        ("mark good none", 4, ""),
        ("backup none fresh", 4, ""),
        ("doctor none --repair", 4, ""),
    ],
)
def test_a_dry_run_makes_no_store_and_only_says_so_of_what_would_be_done(
    words: str, status: int, input: str, kept: Kept, home: Path
) -> None:
    assert kept("set", "empty", "a", "1").status == kept("reset", "empty", "a").status == 0
    before = sorted(home.rglob("*"))
    dry = kept(*words.split(), "--dry-run", input=input)
    assert (dry.status, sorted(home.rglob("*"))) == (status, before), dry.err
    found = [line for line in dry.err.splitlines() if "would create" in line]
    assert found == (["kept: would create the store none"] if status == 0 else [])
    assert kept(*words.split(), input=input).status == status
    # The last line of an import is its sum.
    shown = [line for line in dry.out.splitlines() if not line.endswith("; nothing was done")]
    assert sorted(shown) == (sorted(kept("diff", "empty", "none").out.splitlines()) if status == 0 else [])
    assert status == 3 or (home / "config/kept/none.kept").exists() == (status == 0)


def test_a_repair_is_shown_before_it_is_made(kept: Kept, home: Path) -> None:
    (home / "config/kept/player.kept/values").write_bytes(b"nonsense" * 4096)
    assert kept("doctor", "player").status == 1
    dry = kept("doctor", "player", "--repair", "--dry-run")
    assert kept("doctor", "player").status == 1
    real = kept("doctor", "player", "--repair")
    assert (dry.status, real.status) == (0, 0)
    assert without_space(dry.out) == without_space(real.out.replace("· acknowledged: ", "· would acknowledge: "))
    assert without_space(dry.out)[0].startswith("· would acknowledge: the store was damaged and salvaged; ")
    well = kept("doctor", "player", "--repair", "--dry-run")
    assert (well.status, without_space(well.out)) == (0, without_space(real.out)[1:])
    assert without_space(kept("doctor", "player").out) == without_space(well.out)


def without_space(out: str) -> list[str]:
    """The lines of a report, except how much space is free."""
    return [line for line in out.splitlines() if not line.endswith(" free")]
