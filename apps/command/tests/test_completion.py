"""Completion in the shells: lines are typed on a terminal, and the words that the shell then has are read."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import time
from pathlib import Path

import pytest

from conftest import Kept

SCHEMA = """{"properties": {
  "theme": {"type": "string", "enum": ["dark", "light", "very: dark=1"]}, "muted": {"type": "boolean"},
  "level": {"type": "integer", "enum": [10, 20]}, "volume": {"type": "integer"},
  "days": {"type": "array", "items": {"type": "string", "enum": ["monday", "friday"]}, "default": ["monday"]},
  "token": {"type": "string", "secret": true, "enum": ["hunter2"]}
}}"""
KEYS = [
    "two words",
    'it\'s "quoted"',
    "ends with '",
    "host:8080:tcp",
    "sum=1+1",
    "user@host",
    "cash$HOME`id`*\\x;&|",
    "größe 😀",
    "-dash",
    "tab\there",
]

# The text typed after `kept`, and the words that Tab offers.
TYPED = [
    ("expl", ["explain"]),
    ("help val", ["help", "values"]),
    ("completion fi", ["completion", "fish"]),
    ("list player --nul", ["list", "player", "--null"]),
    ("get pla", ["get", "player"]),
    ("get --store pla", ["get", "--store", "player"]),
    ("get --store player vol", ["get", "--store", "player", "volume"]),
    ("get --store=player vol", ["get", "--store=player", "volume"]),
    ("get --raw player vol", ["get", "--raw", "player", "volume"]),
    ("get player two", ["get", "player", "two words"]),
    ("get player two\\ w", ["get", "player", "two words"]),
    ("get player 'two w", ["get", "player", "two words"]),
    ('get player "two w', ["get", "player", "two words"]),
    ("get player it", ["get", "player", 'it\'s "quoted"']),
    ("get player it\\'", ["get", "player", 'it\'s "quoted"']),
    ("get player 'it", ["get", "player", 'it\'s "quoted"']),
    ('get player "it', ["get", "player", 'it\'s "quoted"']),
    ("get player 'ends", ["get", "player", "ends with '"]),
    ('get player "ends', ["get", "player", "ends with '"]),
    ("get player ends", ["get", "player", "ends with '"]),
    ('get player "cash', ["get", "player", "cash$HOME`id`*\\x;&|"]),
    ("get player 'cash", ["get", "player", "cash$HOME`id`*\\x;&|"]),
    ("get player host:80", ["get", "player", "host:8080:tcp"]),
    ("get player sum=1", ["get", "player", "sum=1+1"]),
    ("get player user", ["get", "player", "user@host"]),
    ("get player cash", ["get", "player", "cash$HOME`id`*\\x;&|"]),
    ("get player grö", ["get", "player", "größe 😀"]),
    ("get player volume two", ["get", "player", "volume", "two words"]),
    ("get player -- -da", ["get", "player", "--", "-dash"]),
    ("explain player -- -da", ["explain", "player", "--", "-dash"]),
    ("explain player -- -dash -- vol", ["explain", "player", "--", "-dash", "--", "vol"]),
    ("set player theme d", ["set", "player", "theme", "dark"]),
    ("set player theme=d", ["set", "player", "theme=dark"]),
    ("set player theme v", ["set", "player", "theme", "very: dark=1"]),
    ("set player theme=v", ["set", "player", "theme=very: dark=1"]),
    ("set player muted=t", ["set", "player", "muted=true"]),
    ("set player muted=true theme=li", ["set", "player", "muted=true", "theme=light"]),
    ("set player level 1", ["set", "player", "level", "10"]),
    ("set player volume --type int", ["set", "player", "volume", "--type", "integer"]),
    ("set player token h", ["set", "player", "token", "h"]),
    ("set player days --add fr", ["set", "player", "days", "--add", "friday"]),
    ("set player days --remove mo", ["set", "player", "days", "--remove", "monday"]),
    ("explain player volume -- vol", ["explain", "player", "volume", "--", "vol"]),
    ("import player export", ["import", "player", "exported file.json"]),
    ("mark go", ["mark", "good"]),
    ("mark good pl", ["mark", "good", "player"]),
    ("browse pla", ["browse", "player"]),
    ("browse player --read", ["browse", "player", "--read-only"]),
    ("browse player --key vol", ["browse", "player", "--key", "volume"]),
    ("browse --screenshot exp", ["browse", "--screenshot", "exported file.json"]),
]

START = {
    "bash": (
        ["bash", "--noprofile", "--rcfile", ".bashrc", "-i"],
        "PS1='ready''> '; bind 'set bell-style none'; source <(kept completion bash)\n",
    ),
    "zsh": (
        ["zsh", "-d", "-i"],
        "PS1='ready''> '; bindkey -e; autoload -Uz compinit; compinit -D -u; source <(kept completion zsh)\n",
    ),
}


@pytest.fixture
def shell(kept: Kept, environment: dict[str, str], tmp_path: Path) -> dict[str, str]:
    """An environment with a store of keys that shells find hard, a file, and programs `kept` and `show`."""
    assert kept("declare", "player", "-", input=SCHEMA).status == 0
    sets = "\n".join(json.dumps({"set": key, "value": 1}) for key in KEYS)
    assert kept("transaction", "player", "--undeclared", input=sets).status == 0
    (tmp_path / "exported file.json").write_text("{}")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "kept").symlink_to(Path(environment["KEPT_COMMAND"]).absolute())
    (programs / "show").write_text('#!/bin/sh\nprintf \'%s\\0\' "$@" >>"$HOME/words"; echo >>"$HOME/words"\n')
    (programs / "show").chmod(0o755)
    more = {"PATH": f"{programs}:{environment['PATH']}", "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    return environment | more | {"ZDOTDIR": str(tmp_path)}


@pytest.mark.parametrize("name", ["bash", "zsh"])
def test_a_shell_completes_what_is_typed(name: str, shell: dict[str, str], tmp_path: Path) -> None:
    program, settings = START[name]
    (tmp_path / f".{name}rc").write_text(settings)
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execvpe(program[0], program, shell)
    # Tab, then a command before the line that stores its words.
    lines = [f"kept {line}\t\x01show \n" for line, _ in TYPED] + ["exit\n"]
    output, prompts, end = b"", 0, time.monotonic() + 60
    try:
        while time.monotonic() < end:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                output += os.read(terminal, 4096)
            except OSError:  # The shell has ended.
                break
            # A shell may draw its prompt again; a line that comes early waits.
            while prompts < min(output.count(b"ready> "), len(lines)):
                os.write(terminal, lines[prompts].encode())
                prompts += 1
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)
    words = (tmp_path / "words").read_text().split("\0\n")[:-1]
    assert [line.split("\0")[1:] for line in words] == [expected for _, expected in TYPED], output.decode()


def test_fish_completes_what_is_typed(shell: dict[str, str], tmp_path: Path) -> None:
    script = "kept completion fish | source; for line in $argv; complete -C$line; printf '\\0'; end"
    lines = [f"kept {line}" for line, _ in TYPED]
    done = subprocess.run(
        ["fish", "--no-config", "-c", script, *lines], cwd=tmp_path, env=shell, capture_output=True, check=True
    )
    found = [text.split("\t")[0].strip("\n") for text in done.stdout.decode().split("\0")[:-1]]
    unfinished = {"h", "vol"}
    assert found == [words[-1] if words[-1] not in unfinished else "" for _, words in TYPED], done.stderr


def test_every_command_and_option_is_offered(kept: Kept) -> None:
    commands = kept("complete", "kept", "").out.split()
    assert {"get", "set", "transaction", "migrate-status", "completion", "help"} <= set(commands)
    for command in commands:
        shown = set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", kept("help", command).out, re.MULTILINE))
        assert "--help" in shown, command
        assert set(kept("complete", "kept", command, "--").out.split()) == shown
        assert all(
            f"\\fB{option}\\fR" in kept("manual", command).out.replace("\\-", "-") for option in shown - {"--version"}
        )


def test_completion_offers_no_secret_and_no_key_that_a_shell_cannot_type(kept: Kept, shell: dict[str, str]) -> None:
    offered = kept("complete", "kept", "get", "player", "").out
    assert "token\n" in offered and "two words\n" in offered
    assert "-dash" not in offered and "tab" not in offered
    assert "hunter2" not in kept("complete", "kept", "set", "player", "token", "").out
    assert kept("complete", "kept", "get", "nowhere", "").out == ""
