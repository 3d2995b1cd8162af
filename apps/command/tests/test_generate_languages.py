"""Generated code compiles without a warning, and what a program gets wrong does not."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from generated import (
    CXX_COMPILERS,
    PYTHON,
    SUFFIXES,
    c_errors,
    c_program,
    changes_by_formatter,
    compilers,
    cxx_errors,
    cxx_program,
    generate,
    python_errors,
    run,
    said,
    swift_errors,
    without_marks,
)
from generated_schemas import EVERY_WORD, random_keys
from swift_programs import ROOT

from conftest import Kept

SCHEMAS = int(os.environ.get("KEPT_RANDOM_SCHEMAS", "20"))
SEED = int(os.environ.get("KEPT_RANDOM_SEED", "0")) or Random().randrange(1, 10**9)
BATCH = 100
MAIN = "int main(void) { return 0; }\n"
CXX_MAIN = "int main() {}\n"


# Texts that are longer than C99 and C++ promise to take.
LONG: dict[str, Any] = {
    "long.text": {"type": "string", "default": "?" * 40_000},
    "long.bytes": {"type": "bytes", "default": {"$binary": {"base64": "AAAA" * 1400, "subType": "00"}}},
    "long.list": {"type": "array", "items": {"type": "string"}, "default": ["x" * 40_000]},
    "long.choice": {"type": "string", "enum": ["y" * 4_096, "z" * 10_000], "default": "z" * 10_000},
}


@pytest.mark.parametrize("compiler", compilers(), ids=" ".join)
def test_every_word_compiles_in_c(kept: Kept, tmp_path: Path, compiler: list[str]) -> None:
    generate(kept, tmp_path, "player", EVERY_WORD | LONG, "c")
    sizes = "sizeof(PLAYER_LONG_TEXT_DEFAULT) == 40001 && sizeof(PLAYER_LONG_BYTES_DEFAULT) == 4201"
    assert c_errors(f'#include "player.h"\nchar size[{sizes} ? 1 : -1];\n{MAIN}', tmp_path, compiler) == ""


@pytest.mark.parametrize("compiler", compilers(CXX_COMPILERS), ids=" ".join)
def test_every_word_compiles_in_cxx(kept: Kept, tmp_path: Path, compiler: list[str]) -> None:
    words = ["kept", "std", "linux", "unix", "errno", "stdin", "time", "int", "new", "std.string", "optional"]
    names = {"type": "string", "enum": words, "default": "std"}
    generate(kept, tmp_path, "time", EVERY_WORD | LONG | dict.fromkeys(words, names), "cxx")
    assert cxx_errors('#include "time.hpp"\n#include "time.hpp"\n' + CXX_MAIN, tmp_path, compiler) == ""


def test_every_word_passes_mypy(kept: Kept, tmp_path: Path) -> None:
    assert python_errors(generate(kept, tmp_path, "player", EVERY_WORD, "python")) == ""


def test_every_word_compiles_in_swift(kept: Kept, tmp_path: Path) -> None:
    assert swift_errors(generate(kept, tmp_path, "player", EVERY_WORD, "swift")) == ""


@pytest.mark.parametrize("language", SUFFIXES)
def test_a_formatter_changes_nothing_whatever_its_configuration(kept: Kept, tmp_path: Path, language: str) -> None:
    file = generate(kept, tmp_path, "player", EVERY_WORD, language)
    indented = '{"version": 1, "lineLength": 60, "indentation": {"spaces": 4}}'
    configuration = {"h": "GNU", "hpp": "GNU", "py": "line-length = 40", "swift": indented}
    assert changes_by_formatter(file, **configuration) == ""


@pytest.mark.parametrize("language", ["c", "python", "swift"])
def test_generated_code_is_formatted(kept: Kept, tmp_path: Path, language: str) -> None:
    """C as the repository's, the others as everybody's; in C++ as kept.hpp, which is formatted by hand."""
    file = generate(kept, tmp_path, "player", EVERY_WORD, language)
    without_marks(file)
    assert changes_by_formatter(file, h=f"file:{ROOT / '.clang-format'}") == ""


def test_random_schemas_compile(kept: Kept, tmp_path: Path) -> None:
    print(f"KEPT_RANDOM_SEED={SEED}")
    random = Random(SEED)
    for done in range(0, SCHEMAS, BATCH):
        folder = tmp_path / str(done)
        check_random_schemas(kept, folder, random, min(BATCH, SCHEMAS - done))
        shutil.rmtree(folder)


def check_random_schemas(kept: Kept, folder: Path, random: Random, count: int) -> None:
    names: list[str] = []
    together: dict[str, Any] = {}
    while len(names) < count:
        # The letter at the end separates the number from a digit that follows in a name of the file of all keys.
        keys, name = random_keys(random), f"keys{len(names)}x"
        if is_refused(kept, keys):
            continue
        names.append(name)
        together |= {f"{name}.{key}": keys[key] for key in keys}
        for language in SUFFIXES:
            generate(kept, folder, name, keys, language)
    includes = "".join(f'#include "{name}.h"\n' for name in names)
    for compiler in compilers():
        assert c_errors(includes + MAIN, folder, compiler) == ""
    includes = "".join(f'#include "{name}.hpp"\n' for name in names)
    for compiler in compilers(CXX_COMPILERS[1:3]):
        assert cxx_errors(includes + CXX_MAIN, folder, compiler) == ""
    assert python_errors(*(folder / f"{name}.py" for name in names)) == ""
    imports = "; ".join(f"import {name}; {name}.declare(kept.open('memory:'))" for name in names)
    path = {"PYTHONPATH": f"{PYTHON}:{folder}"}
    assert said(run(sys.executable, "-W", "error", "-c", f"import kept; {imports}", env=path)) == ""
    # One file of all keys, which the compiler takes sooner than many files.
    assert swift_errors(generate(kept, folder, "all", together, "swift"), folder / f"{names[0]}.swift") == ""


def is_refused(kept: Kept, keys: dict[str, Any]) -> bool:
    """Whether the declarations are wrong, or have names that a language cannot tell apart."""
    schema = json.dumps({"properties": keys})
    done = [kept("generate", "-", f"--{language}", input=schema) for language in ("c", "swift")]
    return any(each.status != 0 for each in done) and (
        any("rename one of them" in each.err for each in done) or kept("lint", "-", input=schema).status != 0
    )


# MARK: Mistakes

KEYS: dict[str, Any] = {
    "audio.volume": {"type": "integer", "default": 50},
    "audio.name": {"type": "string", "default": ""},
    "theme": {"type": "string", "enum": ["dark", "light"], "default": "dark"},
}
RENAMED = {("audio.loudness" if key == "audio.volume" else key): KEYS[key] for key in KEYS}
NARROWED = KEYS | {"audio.volume": {"type": "boolean", "default": True}}
CHOICES = KEYS | {"audio.name": {"type": "string", "enum": ["a", "b"], "default": "a"}}
WITHOUT = KEYS | {"theme": {"type": "string", "enum": ["dark", "bright"], "default": "dark"}}

USERS = {
    "c": """\
#include "player.h"
int main(void) {
  int64_t volume;
  char name[9];
  kept_status status = player_get_audio_volume(NULL, &volume, NULL);
  status = player_get_audio_name(NULL, name, sizeof name, NULL, NULL);
  return status == KEPT_OK ? player_set_theme(NULL, PLAYER_THEME_LIGHT, NULL) : 0;
}
""",
    "cxx": """\
#include "player.hpp"
int main() {
  kept::store store;
  std::string name = store.get(player_keys::audio_name);
  store.set(player_keys::audio_name, name);
  store.set(player_keys::audio_volume, 5);
  store.set(player_keys::theme, player_keys::theme_choice::light);
}
""",
    "python": """\
import kept
import player


def use(settings: kept.Store, name: str) -> int:
    settings[player.THEME] = "light"
    settings[player.AUDIO_NAME] = name
    volume: list[int] = [settings[player.AUDIO_VOLUME]]
    volume.append(5)
    settings[player.AUDIO_VOLUME] = 5
    return volume[0]
""",
    "swift": """\
import Kept

func use(_ settings: Store, _ name: String) -> Int {
  settings[.theme] = .light
  settings[.audioName] = name
  return settings[.audioVolume]
}
""",
}


def errors_of_user(kept: Kept, folder: Path, keys: dict[str, Any], language: str) -> str:
    file = generate(kept, folder, "player", keys, language)
    user = folder / ("user." + language)
    user.write_text(USERS[language])
    match language:
        case "c":
            return c_errors(USERS["c"], folder)
        case "cxx":
            return cxx_errors(USERS["cxx"], folder)
        case "python":
            (folder / "user.py").write_text(USERS["python"])
            return python_errors(file, folder / "user.py")
        case _:
            return swift_errors(file, user)


@pytest.mark.parametrize("language", USERS)
def test_a_renamed_key_a_narrower_type_and_a_wrong_choice_do_not_compile(
    kept: Kept, tmp_path: Path, language: str
) -> None:
    assert errors_of_user(kept, tmp_path, KEYS, language) == ""
    for keys, mention in ((RENAMED, "volume"), (NARROWED, "volume"), (CHOICES, "name"), (WITHOUT, "light")):
        errors = errors_of_user(kept, tmp_path, keys, language)
        where = "program.c" if language.startswith("c") else "user"
        assert where in errors and (mention in errors.lower() or language in ("cxx", "python"))


DEPRECATED = KEYS | {"audio.name": KEYS["audio.name"] | {"deprecated": True, "summary": 'use "title" ??/ \\ é'}}


@pytest.mark.parametrize("language", ["c", "swift"])
def test_compilers_warn_of_the_use_of_a_deprecated_key(kept: Kept, tmp_path: Path, language: str) -> None:
    errors = errors_of_user(kept, tmp_path, DEPRECATED, language)
    assert "deprecated" in errors and 'use "title"' in errors.replace('\\"', '"')


BRACES = """\
#include "player.hpp"
int main() {
  kept::store store;
  std::int64_t wide{store.get(player_keys::audio_volume)};
  int narrow{store.get(player_keys::audio_volume)};
  return wide == narrow;
}
"""


@pytest.mark.parametrize("compiler", compilers([["g++", "-std=c++17"], ["clang++", "-std=c++17"]]), ids=" ".join)
def test_braces_refuse_a_narrower_type_in_cxx(kept: Kept, tmp_path: Path, compiler: list[str]) -> None:
    generate(kept, tmp_path, "player", KEYS, "cxx")
    errors = cxx_errors(BRACES, tmp_path, compiler)
    assert "program.cpp:5:" in errors and "program.cpp:4:" not in errors


# MARK: C

C_TEST = """\
#include "player.h"
#include <stdio.h>
#include <string.h>
#define CHECK(condition) if (!(condition)) { printf("line %d: %s\\n", __LINE__, #condition); return 1; }
int main(void) {
  kept_store *store = NULL;
  kept_error error;
  int64_t integer = 0, seconds = 0;
  int32_t nanoseconds = 0;
  uint64_t big = 0;
  double number = 0;
  char text[100];
  unsigned char bytes[9];
  size_t length = 0;
  uint64_t revision = 0, later = 0;
  player_audio_theme theme = PLAYER_AUDIO_THEME_A;
  player_a choice = PLAYER_A_X;
  char *json = NULL;
  CHECK(kept_open("memory:", NULL, &store, NULL) == KEPT_OK);
  /* Without declarations the defaults are those of the header. */
  CHECK(player_get_audio_volume(store, &integer, &error) == KEPT_OK && integer == 50 && error.status == KEPT_OK);
  CHECK(player_get_audio_theme(store, &theme, &error) == KEPT_OK && theme == PLAYER_AUDIO_THEME_DARK);
  CHECK(player_get_title(store, text, sizeof text, &length, NULL) == KEPT_OK);
  CHECK(length == strlen(PLAYER_TITLE_DEFAULT) && strcmp(text, PLAYER_TITLE_DEFAULT) == 0);
  CHECK(player_get_title(store, text, length, &length, &error) == KEPT_TOO_LARGE && error.status == KEPT_TOO_LARGE);
  CHECK(player_get_icon(store, bytes, sizeof bytes, &length, NULL) == KEPT_OK);
  CHECK(length == 6 && memcmp(bytes, "\\0\\1\\377\\"??", 6) == 0);
  CHECK(player_get_started(store, &seconds, &nanoseconds, NULL) == KEPT_OK && nanoseconds == 6);
  CHECK(player_get_big(store, &big, NULL) == KEPT_OK && big == UINT64_MAX);
  CHECK(player_get_nan(store, &number, NULL) == KEPT_OK && number != number);
  CHECK(player_get_plain(store, text, sizeof text, &length, &error) == KEPT_ABSENT && error.status == KEPT_ABSENT);
  CHECK(player_get_a(store, &choice, NULL) == KEPT_ABSENT);
  CHECK(player_get_frame(store, &json, NULL) == KEPT_ABSENT);
  /* A stored text that is not a choice. */
  CHECK(kept_set_string(store, "audio.theme", "red", 3, NULL) == KEPT_OK);
  CHECK(player_get_audio_theme(store, &theme, &error) == KEPT_INVALID && strstr(error.message, "choices") != NULL);
  CHECK(kept_set_string(store, "audio.theme", "a text longer than each choice", 30, NULL) == KEPT_OK);
  CHECK(player_get_audio_theme(store, &theme, NULL) == KEPT_INVALID);
  CHECK(player_set_audio_theme(store, (player_audio_theme)99, &error) == KEPT_INVALID);
  CHECK(player_set_audio_theme(store, PLAYER_AUDIO_THEME_HIGH_CONTRAST, NULL) == KEPT_OK);
  CHECK(player_get_audio_theme(store, &theme, NULL) == KEPT_OK && theme == PLAYER_AUDIO_THEME_HIGH_CONTRAST);
  CHECK(strcmp(player_audio_theme_text(theme, NULL), "high-contrast") == 0);
  CHECK(player_get_audio_theme(store, NULL, &error) == KEPT_INVALID);
  CHECK(player_get_audio_volume(store, NULL, &error) == KEPT_INVALID);
  /* Declared. */
  CHECK(player_declare(store, &error) == KEPT_OK);
  CHECK(kept_store_revision(store, &revision, NULL) == KEPT_OK);
  CHECK(player_declare(store, &error) == KEPT_OK);
  CHECK(kept_store_revision(store, &later, NULL) == KEPT_OK && later == revision);
  CHECK(player_set_audio_volume(store, PLAYER_AUDIO_VOLUME_MAXIMUM + 1, &error) == KEPT_INVALID);
  CHECK(player_set_audio_volume(store, PLAYER_AUDIO_VOLUME_MAXIMUM, &error) == KEPT_OK);
  CHECK(player_get_frame(store, &json, NULL) == KEPT_OK && strstr(json, "800") != NULL);
  kept_free(json);
  kept_close(store);
  CHECK(player_get_audio_volume(store, &integer, &error) == KEPT_CLOSED && error.status == KEPT_CLOSED);
  return 0;
}
"""


def test_getters_and_setters_in_c(kept: Kept, tmp_path: Path) -> None:
    generate(kept, tmp_path, "player", EVERY_WORD, "c")
    done = run(c_program(C_TEST, tmp_path))
    assert (done.returncode, done.stdout) == (0, "")


# MARK: C++

CXX_TEST = """\
#include "player.hpp"
#include <cstdio>
#define CHECK(condition) if (!(condition)) { std::printf("line %d: %s\\n", __LINE__, #condition); return 1; }
namespace keys = player_keys;
template <typename Call>
kept_status status_of(Call call) {
  try {
    call();
    return KEPT_OK;
  } catch (const kept::error &error) { return error.status(); }
}
int main() {
  kept::store store("memory:");
  // Without declarations the defaults are those of the header.
  CHECK(store.get(keys::audio_volume) == 50);
  CHECK(store.get(keys::audio_theme) == keys::audio_theme_choice::dark);
  CHECK(store.get(keys::title).size() == 25 && store.get(keys::title) == keys::title.otherwise());
  CHECK(store.get(keys::icon).size() == 6 && store.get(keys::icon)[2] == std::byte{255});
  CHECK(store.get(keys::started).nanoseconds == 6);
  CHECK(store.get(keys::big) == UINT64_MAX && store.get(keys::low) == INT64_MIN);
  CHECK(std::isnan(store.get(keys::nan)) && std::signbit(store.get(keys::minus)));
  CHECK(store.get(keys::port) == keys::port_choice::value_443);
  CHECK(store.get(keys::tags).text == "[\\"a\\",\\"b\\"]");
  CHECK(!store.get(keys::plain) && !store.get(keys::a) && !store.get(keys::window));
  // A stored value that is not a choice.
  store.set("audio.theme", "red");
  store.set("port", 81);
  CHECK(status_of([&] { store.get(keys::audio_theme); }) == KEPT_WRONG_TYPE);
  CHECK(status_of([&] { store.get(keys::port); }) == KEPT_WRONG_TYPE);
  auto none = static_cast<keys::audio_theme_choice>(99);
  CHECK(status_of([&] { store.set(keys::audio_theme, none); }) == KEPT_INVALID);
  store.set(keys::audio_theme, keys::audio_theme_choice::high_contrast);
  CHECK(store.get<std::string>("audio.theme") == "high-contrast");
  store.set(keys::port, keys::port_choice::minus_1);
  CHECK(store.get<int>("port") == -1 && store.get(keys::port) == keys::port_choice::minus_1);
  // Declared.
  CHECK(keys::declare(store) == KEPT_OK);
  std::uint64_t revision = store.revision();
  CHECK(keys::declare(store) == KEPT_OK && store.revision() == revision);
  CHECK(status_of([&] { store.set(keys::audio_volume, keys::audio_volume_maximum + 1); }) == KEPT_INVALID);
  store.set(keys::audio_volume, keys::audio_volume_maximum);
  store.set(keys::plain, "text");
  CHECK(store.get(keys::plain) == "text" && store.snapshot().get(keys::audio_volume) == 100);
  store.set(keys::plain, std::nullopt);
  CHECK(!store.get(keys::plain));
}
"""


def test_keys_in_cxx(kept: Kept, tmp_path: Path) -> None:
    generate(kept, tmp_path, "player", EVERY_WORD, "cxx")
    done = run(cxx_program(CXX_TEST, tmp_path))
    assert (done.returncode, done.stdout) == (0, "")
