"""Checking a store."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conftest import Done, Kept, mounted, settle, spoil, status_of


def test_a_sound_store_is_well(declared: Kept) -> None:
    done = declared("doctor", "player")
    assert (done.status, done.out.splitlines()[-1]) == (0, "all is well: 0 values and 10 declarations at revision 1")
    findings = json.loads(declared("doctor", "player", "--json").out)
    assert {finding["severity"] for finding in findings} == {"note"}


def test_a_value_that_does_not_fit_wants_attention(kept: Kept) -> None:
    assert kept("set", "player", "a", '"text"').status == 0
    assert kept("declare", "player", "-", input='{"properties":{"a":{"type":"integer"}}}').status == 0
    done = kept("doctor", "player", "--json")
    assert done.status == 1
    assert json.loads(done.out)[0]["severity"] == "attention"


def test_a_broken_file_of_a_layer_is_one_finding(kept: Kept, tmp_path: Path) -> None:
    assert kept("declare", "player", "-", input='{"properties":{"a":{"type":"integer"}}}').status == 0
    system = tmp_path / "system.json"
    system.write_text('{"values": {"a": 1}')
    done = kept("doctor", "player", "--system", str(system), "--json")
    found = [finding["what"] for finding in json.loads(done.out) if finding["severity"] == "attention"]
    assert (done.status, len(found), found[0].count(str(system))) == (1, 1, 1)


def test_a_damaged_checkpoint_is_reported(kept: Kept, tmp_path: Path) -> None:
    assert kept("set", "player", "a", "1").status == 0
    (tmp_path / "config/kept/player.kept/values").write_bytes(b"nonsense" * 4096)
    done = kept("doctor", "player")
    assert done.status in (1, 4)
    assert "salvaged" in done.out + done.err
    assert kept("doctor", "player", "--repair").status == 0
    assert kept("doctor", "player").status == 0


def test_info_and_stores_say_where_a_store_is(kept: Kept, tmp_path: Path) -> None:
    assert kept("set", "com.example.player", "a", "1").status == 0
    facts = json.loads(kept("info", "com.example.player", "--json").out)
    assert facts["folder"] == str(tmp_path / "config/kept/com.example.player.kept")
    assert (facts["values"], facts["revision"], facts["processes"]) == (1, 1, [])
    assert kept("stores").out == "com.example.player\n"


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)


def damage(values: Path, key: str, number: int) -> None:
    """Changes a byte of the number that a key has in a checkpoint."""
    flip(values, values.read_bytes().index(key.encode() + number.to_bytes(8, "little")) + len(key))


def layer(folder: Path, text: str, mode: int = 0o600) -> None:
    (folder.parent / "layer").write_text(text)
    (folder.parent / "layer").chmod(mode)


def lose(folder: Path) -> None:
    for name in ("values", "journal.0"):
        (folder / name).unlink()


# The file planted into the folder of a store, the status, the finding and the remedy.
PLANTED: dict[str, tuple[Callable[[Kept, Path], None], int, str, str]] = {
    "a checkpoint": (
        lambda kept, s: flip(settle(s, kept), 4096 + 4000),
        1,
        "damaged and salvaged",
        "compare the store with a backup",
    ),
    "a journal": (
        lambda kept, s: flip(s / "journal.0", 20),
        1,
        "damaged and salvaged",
        "compare the store with a backup",
    ),
    "the checkpoint and the journal, removed": (
        lambda kept, s: lose(s),
        1,
        "damaged and salvaged",
        "compare the store with a backup",
    ),
    "a value": (
        lambda kept, s: damage(settle(s, kept), "b", 2),
        1,
        'the value of "b" was lost',
        "kept set",
    ),
    "a declaration": (
        lambda kept, s: spoil(settle(s, kept), "b", b'"integer"', b'"integer{'),
        4,
        '"b": ',
        "with kept doctor --repair",
    ),
    "a wrong file": (lambda kept, s: layer(s, '{"values": {'), 1, "the system layer: ", "correct the file"),
    "a value of a file": (
        lambda kept, s: layer(s, '{"values": {"b": "x"}}'),
        1,
        '"b": the value "x" is a string; the declared type is integer',
        "correct the file",
    ),
    "rights of a file": (lambda kept, s: layer(s, "{}", 0o666), 1, "other users can write", "chmod go-w"),
    "rights of the folder": (lambda kept, s: s.chmod(0o777), 4, "other users can write to the folder", "chmod go-w on"),
    "rights to read": (lambda kept, s: s.chmod(0o755), 0, "other users can access the folder", "chmod go-rwx"),
}


@pytest.fixture
def store(kept: Kept, tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    assert kept("declare", str(folder), "-", input='{"properties": {"b": {"type": "integer"}}}').status == 0
    assert kept("set", str(folder), "a=1", "b=2", "--undeclared").status == 0
    (tmp_path / "layer").write_text('{"values": {}}')
    (tmp_path / "layer").chmod(0o600)
    assert kept("doctor", str(folder), "--system", "layer").status == 0
    return folder


@contextmanager
def opened(environment: dict[str, str], store: Path) -> Iterator[None]:
    """Has a store open, so that damage is not salvaged."""
    words = [environment["KEPT_COMMAND"], "watch", str(store), "b", "--initial"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as watching:
        assert watching.stdout and watching.stdout.readline()
        yield
        watching.terminate()


def test_a_value_that_cannot_be_read_can_be_set(kept: Kept, environment: dict[str, str], store: Path) -> None:
    assert kept("set", str(store), "a", '"before"').status == 0
    spoil(settle(store, kept), "a", b"before", b"\xffefore")
    with opened(environment, store):
        assert kept("get", str(store), "a").status == 4
        for options in (["--dry-run"], []):
            done = kept("set", str(store), "a", "3", *options)
            assert done.status == 0, done
            assert "had a value that cannot be read" in done.err
        assert kept("get", str(store), "a").out == "3\n"


def test_a_damaged_secret_that_is_set_is_not_shown(kept: Kept, environment: dict[str, str], store: Path) -> None:
    schema = '{"properties": {"s": {"type": "string", "secret": true}}}'
    assert kept("secrets", str(store), "init", "--plain").status == 0
    assert kept("declare", str(store), "-", input=schema).status == 0
    assert kept("set", str(store), "s", "before").status == 0
    spoil(settle(store, kept), "s", b"before", b"\xffefore")
    with opened(environment, store):
        done = kept("set", str(store), "s", "hunter2", "--dry-run")
        assert (done.status, "(secret)" in done.out) == (0, True), done
        assert "hunter2" not in done.out + done.err
        assert kept("set", str(store), "s", "hunter2").status == 0
        assert kept("get", str(store), "s", "--reveal").out == "hunter2\n"


def test_a_value_that_may_have_lost_its_declaration_counts_as_a_secret(kept: Kept, store: Path) -> None:
    schema = '{"properties": {"s": {"type": "string", "secret": true}}}'
    assert kept("secrets", str(store), "init", "--plain").status == 0
    assert kept("declare", str(store), "-", input=schema).status == 0
    values = settle(store, kept)
    # The journal has the values.
    assert kept("set", str(store), "--undeclared", "s=hunter2", "a=2").status == 0
    overwrite(values, b'"secret":true')
    for command in (["list"], ["list"], ["export"], ["get", "s"], ["log"]):
        done = kept(command[0], str(store), *command[1:])
        assert "hunter2" not in done.out + done.err
    done = kept("doctor", str(store))
    assert (done.status, '"s" may have lost its declaration' in done.out) == (1, True), done
    done = kept("set", str(store), "a", "31415")
    assert (done.status, "31415" in done.out + done.err) == (0, False), done
    assert "31415" not in kept("list", str(store)).out
    assert kept("undeclare", str(store), "a").status == 0
    assert kept("get", str(store), "a").out == "31415\n"
    assert kept("declare", str(store), "-", input=schema).status == 0
    assert kept("get", str(store), "s", "--reveal").out == "hunter2\n"


def overwrite(values: Path, needle: bytes) -> None:
    """Overwrites the block that has some bytes."""
    data = bytearray(values.read_bytes())
    block = data.index(needle) // 4096 * 4096
    data[block : block + 4096] = b"\xaa" * 4096
    values.write_bytes(data)


@pytest.mark.parametrize("harm", ["a byte", "a block"])
def test_the_keys_whose_values_a_salvage_has_lost_are_named(harm: str, kept: Kept, store: Path) -> None:
    assert kept("set", str(store), "--undeclared", *(f"lost.{n}=7000" for n in range(20)), "it's=1").status == 0
    assert kept("set", str(store), "--undeclared", "gone=1").status == 0
    assert kept("reset", str(store), "gone").status == 0
    values = settle(store, kept)
    # A changed byte leaves the key readable; without the block, the history still has the keys.
    overwrite(values, b"lost.7") if harm == "a block" else damage(values, "lost.7", 7000)
    kept("list", str(store))
    # The history does not say that a key was removed last.
    keys = ["b", "gone", "it's", *(f"lost.{n}" for n in range(20))] if harm == "a block" else ["lost.7"]
    assert kept("set", str(store), "a", "1", "--undeclared").status == 0
    sentences = [f'the value of "{key}" was lost' for key in sorted(keys)]
    found = [finding["what"] for finding in json.loads(kept("doctor", str(store), "--json").out)]
    assert [what for what in found if "was lost" in what] == sentences
    assert any("others may be missing" in what and "/quarantine/" in what for what in found)
    shown = kept("doctor", str(store))
    assert harm == "a byte" or f"kept set {store} 'it'\\''s' VALUE" in shown.out
    for options in (["--dry-run"], []):
        repaired = kept("doctor", str(store), "--repair", *options)
        lines = [line for line in repaired.out.splitlines() if "was lost" in line]
        assert (repaired.status, lines) == (0, [f"· {sentence}" for sentence in sentences])
        assert "acknowledge" in repaired.out and "/quarantine/" in repaired.out
    done = kept("doctor", str(store))
    assert (done.status, "was lost" in done.out) == (0, False)
    (folder,) = (store / "quarantine").iterdir()
    assert f" in {store}/quarantine: {folder.name}\n" in done.out
    assert "the keys whose values are known to be lost" in kept("help", "damage").out


def test_it_says_where_the_keys_of_lost_values_are_not_known(kept: Kept, store: Path) -> None:
    settle(store, kept).write_bytes(b"nonsense" * 4096)
    kept("list", str(store))
    for options in ([], ["--repair"]):
        done = kept("doctor", str(store), *options)
        assert "values and declarations of unknown keys may be missing" in done.out, done
        assert "was lost" not in done.out


@pytest.mark.parametrize("planted", PLANTED)
def test_what_is_planted_is_found_once_with_what_to_do(planted: str, kept: Kept, store: Path) -> None:
    action, status, what, remedy = PLANTED[planted]
    action(kept, store)
    # The first program that finds damage of the files reports it, and the next one that opens the store salvages it.
    kept("doctor", str(store))
    done = kept("doctor", str(store), "--system", "layer")
    shown = done.out or done.err
    assert (done.status, shown.count(what)) == (status, 1), shown + done.err
    assert remedy in shown
    found = kept("doctor", str(store), "--system", "layer", "--json")
    assert found.status == status
    assert sum(what in finding["what"] for finding in json.loads(found.out)) == 1
    assert kept("doctor", str(store), "--system", "layer", "--quiet").out == ""


@pytest.mark.parametrize("planted", ["a checkpoint", "a journal", "a value", "a declaration"])
def test_a_repair_ends_what_it_can(planted: str, kept: Kept, store: Path) -> None:
    PLANTED[planted][0](kept, store)
    kept("get", str(store), "a")
    dry = kept("doctor", str(store), "--repair", "--dry-run")
    assert dry.out.startswith("· would ")
    assert kept("doctor", str(store)).status != 0
    real = kept("doctor", str(store), "--repair")
    assert (dry.status, real.status, real.out[:2]) == (0, 0, "· ")
    assert kept("doctor", str(store)).status == 0


def test_a_repair_keeps_the_values_next_to_a_damaged_one(kept: Kept, store: Path) -> None:
    values = settle(store, kept)
    damage(values, "b", 2)
    done = kept("doctor", str(store), "--repair")
    assert (done.status, '· the value of "b" was lost' in done.out) == (0, True), done
    assert kept("get", str(store), "a").out == "1\n"


def test_a_file_that_keeps_programs_out_does_not_hide_the_rest(kept: Kept, store: Path) -> None:
    layer(store, "{")
    done = kept("doctor", str(store), "--managed", "layer")
    assert (done.status, done.out.startswith("✗ the store cannot be opened: ")) == (4, True)
    assert "2 values and 1 declaration at revision 2" in done.out


def test_the_place_and_the_versions_are_named(kept: Kept, store: Path) -> None:
    done = kept("doctor", str(store))
    assert "· kept 0." in done.out and "schema version 0 of the store" in done.out
    assert f"· in {store}, on " in done.out and " free" in done.out


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="this machine has no writable file system in memory")
def test_a_store_in_memory_is_said_to_be_lost_at_a_restart(kept: Kept, tmp_path: Path) -> None:
    folder = Path("/dev/shm") / f"kept-{os.getpid()}"
    try:
        assert kept("set", str(folder), "a", "1").status == 0
        assert "on tmpfs" in kept("doctor", str(folder)).out
        assert "lost at reboot" in kept("doctor", str(folder)).out
    finally:
        subprocess.run(["rm", "-r", str(folder)], check=True)


def test_the_process_that_has_it_open_is_named(kept: Kept, environment: dict[str, str], store: Path) -> None:
    watching = subprocess.Popen(
        [environment["KEPT_COMMAND"], "watch", str(store), "--initial"], stdout=subprocess.PIPE, env=environment
    )
    assert watching.stdout and watching.stdout.readline()
    assert f"· open in kept ({watching.pid})" in kept("doctor", str(store)).out
    assert f"kept ({watching.pid})" in kept("info", str(store)).out
    assert json.loads(kept("info", str(store), "--json").out)["processes"] == [{"name": "kept", "pid": watching.pid}]
    watching.terminate()
    assert status_of(watching) == -signal.SIGTERM


def remedies(done: Done) -> list[str]:
    """The remedies, as a person copies them."""
    return [line.strip() for line in done.out.splitlines() if line.startswith("  ")]


def in_bash(environment: dict[str, str], line: str) -> None:
    script = f'kept() {{ "$KEPT_COMMAND" "$@"; }}; {line}'
    subprocess.run(["bash", "-c", script], env=environment, check=True, cwd=environment["HOME"], timeout=60)


AWKWARD = [
    "two words",
    "it's",
    "a;b&c|d",
    "-dash",
    "line\nbreak\ttab",
    "größe",
    "$(exit 3)`x`",
    "a=b",
    "*",
    "\x1b\\'",
    "a\u061c\u200bb",
    "~",
    "!x",
]


@pytest.mark.parametrize("location", ["player", "a store"])
def test_what_is_to_be_done_can_be_copied_into_a_shell(
    location: str, kept: Kept, environment: dict[str, str], tmp_path: Path
) -> None:
    location = location if location == "player" else str(tmp_path / location)
    sets = "\n".join(json.dumps({"set": key, "value": "text"}) for key in AWKWARD)
    assert kept("transaction", location, input=sets).status == 0
    schema = {"properties": {key: {"type": "integer"} for key in AWKWARD}}
    assert kept("declare", location, "-", input=json.dumps(schema)).status == 0
    lines = [line for line in remedies(kept("doctor", location)) if "kept reset" in line]
    assert len(lines) == len(AWKWARD)
    for key, line in zip(sorted(AWKWARD, key=str.encode), lines, strict=True):
        if key != "a=b":
            in_bash(environment, line.split(" VALUE, or ")[0] + " 7")
            assert kept("get", location, "--", key).out == "7\n"
        in_bash(environment, "kept reset" + line.split("kept reset")[1])
        assert kept("get", location, "--", key).status == 1
    assert kept("doctor", location).status == 0


def test_values_below_locks_can_be_removed_as_it_says(kept: Kept, environment: dict[str, str], tmp_path: Path) -> None:
    sets = "\n".join(json.dumps({"set": key, "value": "text"}) for key in AWKWARD)
    assert kept("transaction", "player", input=sets).status == 0
    layer(tmp_path / "store", json.dumps({"locked": AWKWARD}))
    lines = [line for line in remedies(kept("doctor", "player", "--managed", "layer")) if "kept reset" in line]
    for line in lines:
        in_bash(environment, line)
    assert (len(lines), kept("list", "player").out) == (len(AWKWARD), "")


def test_the_folder_of_the_remedies_may_have_spaces(kept: Kept, environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "it's a store"
    assert kept("set", str(folder), "a", "1").status == 0
    folder.chmod(0o755)
    [line] = [line for line in remedies(kept("doctor", str(folder))) if "chmod" in line]
    in_bash(environment, line.split(": ")[1])
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_the_file_system_below_a_mount_point_with_a_space_is_known(environment: dict[str, str]) -> None:
    done = mounted(environment, "size=16m", "kept set ./store a 1 -q; kept doctor ./store")
    assert "on tmpfs" in done.stdout, done


def test_a_disk_that_takes_no_more_files_wants_attention(environment: dict[str, str]) -> None:
    fill = "for ((i = 0; i < 64; i++)); do : >filler.$i || break; done 2>/dev/null"
    done = mounted(environment, "size=64m,nr_inodes=32", f"kept set ./store a 1 -q; {fill}; kept doctor ./store")
    assert "the disk has 0 free inodes, and creating files may fail" in done.stdout, done
    assert done.returncode in (1, 4)
    done = mounted(environment, "size=64m", "kept set ./store a 1 -q; kept doctor ./store")
    assert "inodes" not in done.stdout and done.returncode == 0


def test_a_full_disk_is_named_whether_the_store_opens_or_not(environment: dict[str, str]) -> None:
    fill = "cat /dev/zero >filler 2>/dev/null; rm ./store/pulse"
    done = mounted(environment, "size=4m", f"kept set ./store a 1 -q; {fill}; kept doctor ./store")
    assert "the disk is nearly full, and writes may fail" in done.stdout, done
    assert " 0 B free" in done.stdout and done.returncode in (1, 4)


def test_rights_that_keep_a_store_closed_are_named_all_at_once(
    kept: Kept, environment: dict[str, str], store: Path
) -> None:
    # As Kubernetes does with fsGroup.
    files = sorted(path for path in store.iterdir() if path.is_file())
    assert len(files) >= 3
    for path in files:
        path.chmod(0o660)
    store.chmod(0o2770)
    done = kept("doctor", str(store))
    assert done.status == 4 and done.out.startswith("✗ the store cannot be opened: ")
    assert all(f"{path} (660)" in done.out for path in files) and f"{store} (2770)" in done.out
    [line] = [line for line in remedies(done) if line.startswith("chmod")]
    in_bash(environment, line)
    assert kept("doctor", str(store)).status == 0
    assert kept("get", str(store), "a").out == "1\n"
    for path in files:
        path.chmod(0o660)
    found = kept("doctor", str(store), "--json")
    assert found.status == 4 and sum("writable by others" in finding["what"] for finding in json.loads(found.out)) == 1
    quiet = kept("doctor", str(store), "--quiet")
    assert (quiet.status, quiet.out) == (4, "") and quiet.err.startswith("kept: ")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_owners_that_keep_a_store_closed_are_named_all_at_once(
    kept: Kept, environment: dict[str, str], store: Path
) -> None:
    given = [store / "journal.0", store / "values"]
    for path in given:
        os.chown(path, 12345, 12345)
    done = kept("doctor", str(store))
    assert done.status == 4 and all(f"{path} (12345)" in done.out for path in given)
    [line] = [line for line in remedies(done) if "chown" in line]
    in_bash(environment, line.split(": ")[1])
    assert kept("doctor", str(store)).status == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_user_who_does_not_exist_in_the_namespace_is_named(
    kept: Kept, environment: dict[str, str], store: Path
) -> None:
    for path in [store, *store.iterdir()]:
        os.chown(path, 12345, 12345)
    words = ["unshare", "--user", "--map-root-user", environment["KEPT_COMMAND"], "doctor", str(store)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr:
        pytest.skip("this user may make no namespace")
    assert done.returncode == 4, done
    assert f"{store} belongs to a user that this user namespace does not map" in done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="root becomes another user")
def test_a_store_with_an_identifier_is_healthy_where_root_is_not_mapped(
    environment: dict[str, str], tmp_path: Path
) -> None:
    # As in a sandbox: /etc seems to belong to nobody, and has no files of the administrator.
    program = shutil.copy(environment["KEPT_COMMAND"], tmp_path / "kept")
    for parent in tmp_path.parents:
        if "pytest-" in parent.name:
            parent.chmod(0o755)
    os.chown(tmp_path, 1000, 1000)
    as_user = ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "unshare", "--user", "--map-user=1000"]
    for words in (["set", "-q", "com.example.sandboxed", "a=1"], ["doctor", "com.example.sandboxed"]):
        run = [*as_user, str(program), *words]
        done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False, cwd="/")
        if "unshare: " in done.stderr:
            pytest.skip("this user may make no namespace")
        assert (done.returncode, done.stderr) == (0, ""), done


@pytest.mark.skipif(os.geteuid() != 0, reason="root becomes another user")
def test_a_folder_that_may_not_be_entered_is_named(
    kept: Kept, environment: dict[str, str], store: Path, tmp_path: Path
) -> None:
    program = shutil.copy(environment["KEPT_COMMAND"], tmp_path / "kept")
    for parent in tmp_path.parents:
        if "pytest-" in parent.name:
            parent.chmod(0o755)
    tmp_path.chmod(0o755)

    def as_nobody() -> subprocess.CompletedProcess[str]:
        words = ["setpriv", "--reuid", "nobody", "--clear-groups", str(program), "doctor", str(store)]
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False, cwd="/")

    inner = tmp_path / "inner"
    inner.mkdir(0o700)
    store = store.rename(inner / "store")
    done = as_nobody()
    assert done.returncode == 4 and f"may not enter {inner} (mode 700, owner 0)" in done.stdout, done
    inner.chmod(0o755)
    store.chmod(0o755)
    done = as_nobody()
    assert done.returncode == 4 and f"lacks permission to read: {store}/" in done.stdout, done
    files = [path for path in store.iterdir() if path.is_file()]
    assert all(str(path) in done.stdout for path in files)


def test_something_else_in_the_place_of_a_store_is_named(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = kept("doctor", str(tmp_path / "file"))
    assert done.status == 4 and f"{tmp_path}/file is not a folder" in done.out, done


def test_what_is_wrong_on_the_way_to_a_file_of_the_administrator_is_named_at_once(
    kept: Kept, environment: dict[str, str], store: Path, tmp_path: Path
) -> None:
    managed = tmp_path / "etc" / "kept" / "managed.json"
    managed.parent.mkdir(parents=True)
    managed.write_text("{}")
    for path in (managed, managed.parent, managed.parent.parent):
        path.chmod(0o777 if path.is_dir() else 0o666)
    done = kept("doctor", str(store), "--managed", str(managed))
    assert done.status == 4, done
    [line] = [line for line in remedies(done) if line.startswith("chmod go-w /")]
    assert line == f"chmod go-w {managed.parent.parent} {managed.parent} {managed}"
    in_bash(environment, line)
    assert kept("doctor", str(store), "--managed", str(managed)).status == 0


def test_a_store_that_is_salvaged_is_named_once_with_the_command(kept: Kept, store: Path) -> None:
    (store / "values").write_bytes(b"nonsense" * 4096)
    lose(store)
    done = kept("list", str(store))
    assert (done.status, done.err.count("\n")) == (0, 1)
    assert "kept: the store was damaged and salvaged" in done.err and f"kept doctor {store} --repair" in done.err
    assert kept("get", str(store), "a", "--quiet").err == ""
    assert kept("doctor", str(store)).err == ""
    assert kept("doctor", str(store), "--repair").err == ""


def test_a_broken_file_of_a_key_is_repaired(kept: Kept, tmp_path: Path) -> None:
    location = f"dir:{tmp_path}/simple"
    assert kept("set", location, "a", "1").status == 0
    (tmp_path / "simple/a.json").write_text("{")
    assert kept("doctor", location).status == 4
    done = kept("doctor", location, "--repair")
    assert (done.status, kept("doctor", location).status) == (0, 0), done
    assert kept("get", location, "a").status == 1


def test_a_broken_file_of_a_key_is_replaced(kept: Kept, tmp_path: Path) -> None:
    location = f"dir:{tmp_path}/simple"
    assert kept("set", location, "a", "1").status == 0
    (tmp_path / "simple/a.json").write_text("{")
    done = kept("set", location, "a", "2")
    assert done.status == 0 and '"a": had a value that cannot be read' in done.err, done
    assert kept("get", location, "a").out == "2\n"


def test_info_needs_no_schema_version(kept: Kept, tmp_path: Path) -> None:
    location = f"dir:{tmp_path}/simple"
    assert kept("set", location, "a", "1").status == 0
    done = kept("info", location)
    assert done.status == 0 and "schema version" not in done.out and "values:         1\n" in done.out, done
    assert "schemaVersion" not in json.loads(kept("info", location, "--json").out)


@pytest.mark.skipif(os.geteuid() != 0, reason="root becomes another user")
def test_a_store_that_its_owner_may_not_write_wants_attention(environment: dict[str, str], tmp_path: Path) -> None:
    shutil.copy(environment["KEPT_COMMAND"], tmp_path / "kept")
    for parent in tmp_path.parents:
        if "pytest-" in parent.name:
            parent.chmod(0o755)
    tmp_path.chmod(0o777)
    folder = tmp_path / "mine"

    def run(user: str, *words: str) -> subprocess.CompletedProcess[str]:
        words = ("setpriv", "--reuid", user, "--clear-groups", str(tmp_path / "kept"), *words)
        return subprocess.run(words, env=environment, capture_output=True, text=True, check=False, cwd="/")

    assert run("nobody", "set", str(folder), "a", "1").returncode == 0
    files = [path for path in folder.iterdir() if path.is_file()]
    for places in ([folder], files):
        modes = {path: path.stat().st_mode for path in places}
        for path, mode in modes.items():
            path.chmod(mode & ~0o222)
        done = run("nobody", "doctor", str(folder))
        assert done.returncode == 1 and "all is well" not in done.stdout, done
        assert f"chmod u+rwX {' '.join(map(str, sorted(places)))}\n" in done.stdout, done
        for path, mode in modes.items():
            path.chmod(mode)
        assert run("nobody", "doctor", str(folder)).returncode == 0
    # Another user is meant to read it.
    for path in [folder, *files]:
        path.chmod(0o755 if path == folder else 0o644)
    done = run("daemon", "doctor", str(folder))
    assert done.returncode == 0 and "· this user cannot write to the folder" in done.stdout, done


def test_a_store_that_does_not_exist_is_a_finding_in_json(kept: Kept) -> None:
    done = kept("doctor", "absent", "--json")
    (finding,) = json.loads(done.out)
    assert (done.status, finding["severity"]) == (4, "damage") and "there is no store absent" in finding["what"]
    assert kept("doctor", "absent").out == ""


def test_a_value_that_stays_under_a_former_name_is_reported(kept: Kept) -> None:
    old = '{"properties": {"volume": {"type": "integer"}, "old": {"type": "integer"}}}'
    new = """{"properties": {
        "audio.volume": {"type": "integer", "maximum": 70, "renamedFrom": "volume"},
        "new": {"type": "integer", "renamedFrom": "old"}}}"""
    assert kept("declare", "player", "-", input=old).status == 0
    assert kept("set", "player", "volume=90").status == 0
    declared = kept("declare", "player", "-", input=new)
    sentence = declared.err.removeprefix("kept: ").strip()
    assert "90" in sentence and 'stays stored under the former name "volume"' in sentence
    found = json.loads(kept("doctor", "player", "--json").out)
    assert [each["key"] for each in found if each["severity"] == "attention"] == ["audio.volume"]
    assert [each["what"] for each in found if each["severity"] == "attention"] == [sentence]
    for options in ([], ["--json"]):
        assert sentence in kept("explain", "player", "audio.volume", *options).err
    assert "former" not in kept("explain", "player", "new").err
    # What fits moves when the key is declared again, and not when the store is looked at.
    assert kept("set", "player", "old=3").status == 0
    assert kept("doctor", "player").status == 1 and kept("get", "player", "old").out == "3\n"
    assert kept("set", "player", "audio.volume=5").status == kept("doctor", "player").status == 0
