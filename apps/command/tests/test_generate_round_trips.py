"""Values that one language writes through generated code, the others read and write as they are."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from generated import SUFFIXES, c_program, cxx_program, generate, run, swift_program
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import kept
from conftest import environment_in, runner

KEYS: dict[str, Any] = {
    "flag": {"type": "boolean"},
    "count": {"type": "integer"},
    "big": {"type": "integer", "minimum": 0, "maximum": {"$numberULong": "18446744073709551615"}},
    "ratio": {"type": "number"},
    "title": {"type": "string"},
    "blob": {"type": "bytes"},
    "when": {"type": "date"},
    "theme": {"type": "string", "enum": ["dark", "", "a\0b", "größe"]},
    "level": {"type": "integer", "enum": [1, -(2**63), 2**63 - 1]},
    "tags": {"type": "array", "items": {"type": "string"}},
    "sizes": {"type": "object", "additionalProperties": {"type": "number"}},
    "frame": {
        "type": "object",
        "properties": {"class": {"type": "integer"}, "x y": {"type": "number"}, "inner": {"type": "object"}},
        "required": ["class"],
    },
    "window": {
        "type": "object",
        "properties": {"class": {"type": "integer"}, "x y": {"type": "number"}, "of": {"type": "bytes"}},
        "required": ["class"],
    },
}

C = """\
#include "copied.h"
#include <stdio.h>
#include <stdlib.h>
#define COPY(key, get, set)                                         \\
  do {                                                              \\
    kept_status status = get;                                       \\
    if (status == KEPT_OK) status = set;                            \\
    else if (status == KEPT_ABSENT) status = kept_remove(to, key, NULL); \\
    if (status != KEPT_OK && status != KEPT_ABSENT) {               \\
      printf("%s: %s\\n", key, error.message);                      \\
      exit(1);                                                      \\
    }                                                               \\
  } while (0)
static char buffer[100000];
int main(int count, char **words) {
  kept_store *from = NULL, *to = NULL;
  kept_error error;
  bool flag = false;
  int64_t integer = 0;
  int32_t nanoseconds = 0;
  uint64_t big = 0;
  double number = 0;
  size_t length = 0;
  copied_theme theme = COPIED_THEME_DARK;
  char *json = NULL;
  if (count != 3 || kept_open(words[1], NULL, &from, &error) < 0) return 2;
  if (kept_open(words[2], NULL, &to, &error) < 0) return 2;
  if (copied_declare(to, &error) != KEPT_OK) return 3;
  COPY("flag", copied_get_flag(from, &flag, &error), copied_set_flag(to, flag, &error));
  COPY("count", copied_get_count(from, &integer, &error), copied_set_count(to, integer, &error));
  COPY("big", copied_get_big(from, &big, &error), copied_set_big(to, big, &error));
  COPY("ratio", copied_get_ratio(from, &number, &error), copied_set_ratio(to, number, &error));
  COPY("title", copied_get_title(from, buffer, sizeof buffer, &length, &error),
       copied_set_title(to, buffer, length, &error));
  COPY("blob", copied_get_blob(from, buffer, sizeof buffer, &length, &error),
       copied_set_blob(to, buffer, length, &error));
  COPY("when", copied_get_when(from, &integer, &nanoseconds, &error),
       copied_set_when(to, integer, nanoseconds, &error));
  COPY("theme", copied_get_theme(from, &theme, &error), copied_set_theme(to, theme, &error));
  COPY("level", copied_get_level(from, &integer, &error), copied_set_level(to, integer, &error));
  COPY("tags", copied_get_tags(from, &json, &error), copied_set_tags(to, json, &error));
  COPY("sizes", copied_get_sizes(from, &json, &error), copied_set_sizes(to, json, &error));
  COPY("frame", copied_get_frame(from, &json, &error), copied_set_frame(to, json, &error));
  COPY("window", copied_get_window(from, &json, &error), copied_set_window(to, json, &error));
  kept_close(from);
  kept_close(to);
  return 0;
}
"""

CXX = """\
#include "copied.hpp"
#include <cstdio>
namespace keys = copied_keys;
int main(int, char **words) try {
  kept::store from(words[1]), to(words[2]);
  keys::declare(to);
  const auto copy = [&](const auto &key) { to.set(key, from.get(key)); };
  copy(keys::flag);
  copy(keys::count);
  copy(keys::big);
  copy(keys::ratio);
  copy(keys::title);
  copy(keys::blob);
  copy(keys::when);
  copy(keys::theme);
  copy(keys::level);
  copy(keys::tags);
  copy(keys::sizes);
  copy(keys::frame);
  copy(keys::window);
} catch (const kept::error &error) {
  std::puts(error.what());
  return 1;
}
"""

SWIFT = """\
import Kept

let (from, to) = (try Store.open(CommandLine.arguments[1]), try Store.open(CommandLine.arguments[2]))
try CopiedSchema.declare(in: to)

func copy<Value: Sendable>(_ key: Key<Value>) throws { try to.set(try from.value(for: key), for: key) }

try copy(.flag)
try copy(.count)
try copy(.big)
try copy(.ratio)
try copy(.title)
try copy(.blob)
try copy(.when)
try copy(.theme)
try copy(.level)
try copy(.tags)
try copy(.sizes)
try copy(.frame)
try copy(.window)
from.close()
to.close()
"""

CHECKS = list(HealthCheck)
WINDOW = st.fixed_dictionaries(
    {"class": st.integers(-(2**63), 2**63 - 1)}, optional={"x y": st.floats(), "of": st.binary(max_size=20)}
)
DATES = st.builds(kept.Timestamp, st.integers(-62_167_219_200, 253_402_300_799), st.integers(0, 999_999_999))
TEXTS = st.text(st.characters(codec="utf-8"))
VALUES = st.fixed_dictionaries(
    {},
    optional={
        "flag": st.booleans(),
        "count": st.integers(-(2**63), 2**63 - 1),
        "big": st.integers(0, 2**64 - 1),
        "ratio": st.floats(),
        "title": TEXTS,
        "blob": st.binary(),
        "when": DATES,
        "theme": st.sampled_from(KEYS["theme"]["enum"]),
        "level": st.sampled_from(KEYS["level"]["enum"]),
        "tags": st.lists(TEXTS),
        "sizes": st.dictionaries(TEXTS.filter(lambda text: "\0" not in text), st.floats()),
        "frame": WINDOW.map(lambda window: {"class": window["class"], "inner": {"any": [1, None]}}),
        "window": WINDOW,
    },
)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], ModuleType]:
    """Copying from one store into another: programs in C, C++ and Swift, and the module for Python."""
    folder = tmp_path_factory.mktemp("generated")
    command = runner(environment_in(folder))
    files = {language: generate(command, folder, "copied", KEYS, language) for language in SUFFIXES}
    swift = swift_program({"main.swift": SWIFT, "Copied.swift": files["swift"].read_text("utf-8")})
    spec = importlib.util.spec_from_file_location("copied", files["python"])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [c_program(C, folder), cxx_program(CXX, folder), swift], module


def write(store: kept.Store, name: str, value: Any) -> None:
    """Sets or removes a key that has no type in Python."""
    if value is None:
        store.pop(name, None)
    else:
        store[name] = value


def test_random_values_are_the_same_in_every_language(programs: tuple[list[Path], ModuleType], tmp_path: Path) -> None:
    compiled, in_python = programs
    places = [str(tmp_path / name) for name in ("first", "second", "third", "fourth", "last")]
    keys = [key for key in vars(in_python).values() if isinstance(key, kept.Key)]
    with kept.open(places[0]) as first, kept.open(places[3]) as fourth, kept.open(places[4]) as last:
        in_python.declare(first)
        in_python.declare(last)

        @settings(max_examples=30, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=CHECKS)
        @given(VALUES)
        def check(values: dict[str, Any]) -> None:
            for key in keys:
                first[key] = values.get(key.name)
            write(first, in_python.FRAME, values.get("frame"))
            for index, program in enumerate(compiled):
                done = run(program, places[index], places[index + 1])
                assert done.returncode == 0, done.stdout + done.stderr
            for key in keys:
                last[key] = fourth[key]
            write(last, in_python.FRAME, fourth.get(in_python.FRAME))
            assert first.export() == last.export()

        check()
