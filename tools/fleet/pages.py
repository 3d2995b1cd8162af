"""Writes the page of the manual of kept-fleet, and its completions: pages.py PROGRAM FOLDER

What the page says of commands and options is the help of the program; the rest is in kept-fleet.1.in.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

Argument = dict[str, Any]


def escaped(text: str) -> str:
    """Text in which nothing is an instruction of roff, and a dash is the one that can be copied into a shell."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def prose(text: str) -> str:
    """Text of the help, in which code is in backticks."""
    parts = [escaped(part) for part in text.split("`")]
    return "".join(f"\\fB{part}\\fR" if index % 2 else part for index, part in enumerate(parts))


def option(argument: Argument) -> str:
    names = [("-" if name["kind"] == "short" else "--") + name["name"] for name in argument["names"]]
    title = ", ".join(f"\\fB{escaped(name)}\\fR" for name in names)
    if argument["kind"] == "option":
        title += f" \\fI{escaped(argument['valueName'])}\\fR"
        if argument["isRepeating"]:
            title += " ..."
    text = prose(argument["abstract"])
    if default := argument.get("defaultValue"):
        text += f" Without it, {escaped(default.removesuffix('.0'))}."
    return f".TP\n{title}\n{text}\n"


def options(command: dict[str, Any]) -> list[Argument]:
    return [one for one in command["arguments"] if one["kind"] != "positional" and one["shouldDisplay"]]


def output(*arguments: str) -> str:
    return subprocess.run(arguments, stdout=subprocess.PIPE, check=True, text=True).stdout


def usage(program: str, command: str) -> list[str]:
    """How a command is called, from its help."""
    lines = output(program, "help", command).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("USAGE: "))
    paragraph = lines[start : lines.index("", start)]
    return [form.strip() for form in " ".join(paragraph).removeprefix("USAGE: ").split(" | kept-fleet")]


def page(program: str) -> str:
    root = json.loads(output(program, "--experimental-dump-help"))["command"]
    commands = [one for one in root["subcommands"] if one["shouldDisplay"] and one["commandName"] != "help"]
    common = [one for one in options(commands[0]) if all(one in options(other) for other in commands)]
    synopsis, sections = [], []
    for command in commands:
        name = command["commandName"]
        forms = usage(program, name)
        synopsis += [escaped(form if form.startswith("kept-fleet ") else f"kept-fleet {form}") for form in forms]
        own = "".join(option(one) for one in options(command) if one not in common)
        sections.append(f".SS {name}\n{prose(command['abstract'])}\n.PP\n{prose(command['discussion'])}\n{own}")
    parts = {
        "SUMMARY": prose(root["abstract"].rstrip(".")[0].lower() + root["abstract"].rstrip(".")[1:]),
        "VERSION": output(program, "--version").split()[-1],
        "SYNOPSIS": ".nf\n" + "\n".join(synopsis) + "\n.fi",
        "DESCRIPTION": prose(root["discussion"]),
        "COMMANDS": "".join(sections).rstrip(),
        "OPTIONS": "".join(option(one) for one in common).rstrip(),
    }
    text = (Path(__file__).parent / "kept-fleet.1.in").read_text()
    for word, part in parts.items():
        text = text.replace(f"@{word}@", part)
    return text


def completion(program: str, shell: str) -> str:
    # It is read, not run: a first line that names an interpreter does not belong there.
    return output(program, "--generate-completion-script", shell).removeprefix("#!/bin/bash\n").lstrip("\n")


def main() -> None:
    program, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kept-fleet.1").write_text(page(program))
    for shell in ("bash", "zsh", "fish"):
        (folder / f"kept-fleet.{shell}").write_text(completion(program, shell))


main()
