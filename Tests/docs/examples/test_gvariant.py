"""The example's readers of GVariant text and of GSettings schemas: valid texts are read, invalid ones are refused."""

from __future__ import annotations

from pathlib import Path

import gschema
import gvariant
import pytest


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("b", "true", True),
        ("i", " -1 ", -1),
        ("i", "010", 8),
        ("x", "-0x10", -16),
        ("u", "4294967295", 4294967295),
        ("d", "0", 0.0),
        ("d", "1.20", 1.2),
        ("s", "'it\\'s \\u00e9'", "it's é"),
        ("s", '"gnome"', "gnome"),
        ("as", "[ 'a','b' ]", ["a", "b"]),
        ("as", "@as []", []),
        ("a(ss)", "[('xkb', 'us')]", [["xkb", "us"]]),
        ("(i)", "(5,)", [5]),
        ("aai", "[[1, 2], []]", [[1, 2], []]),
    ],
)
def test_a_text_becomes_the_value_of_its_type(kind: str, text: str, value: object) -> None:
    found = gvariant.parse(kind, text)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("b", "yes"), ("b", "truest"), ("i", "1.5"), ("i", "2147483648"), ("u", "-1"), ("i", ""), ("s", "'open"),
        ("s", "bare"), ("as", "['a' 'b']"), ("as", "['a',]"), ("as", "['a'"), ("a(ss)", "[('a',)]"), ("d", "one"),
        ("b", "true false"), ("a{sv}", "{}"), ("ii", "1"), ("", "1"),
    ],
)  # fmt: skip
def test_a_bad_text_is_refused(kind: str, text: str) -> None:
    with pytest.raises(ValueError):
        gvariant.parse(kind, text)


def test_the_types_of_the_members_of_a_tuple_are_distinguished() -> None:
    assert gvariant.members("(sa(ii)ab)") == ["s", "a(ii)", "ab"]
    assert gvariant.members("()") == []


SCHEMAS = """<schemalist>
  <enum id="Side"><value nick="left" value="0"/></enum>
  <schema id="a">
    <key name="side" enum="Side"><default>'{side}'</default><summary>Where
      it is</summary></key>
    <key name="size" type="i"><default>{size}</default><range min="1" max="9"/></key>
  </schema>
</schemalist>"""


def test_a_schema_is_read_with_its_types(tmp_path: Path) -> None:
    (tmp_path / "a.gschema.xml").write_text(SCHEMAS.format(side="left", size=5))
    schemas = gschema.read_folder(tmp_path)
    assert schemas.settings == [
        gschema.Setting("a.side", "enum", "left", "Where it is", ("left",)),
        gschema.Setting("a.size", "i", 5, None, (), 1, 9),
    ]
    assert schemas.unread == {}


def test_a_default_outside_its_enum_or_range_is_left_out_and_says_why(tmp_path: Path) -> None:
    (tmp_path / "a.gschema.xml").write_text(SCHEMAS.format(side="top", size=10))
    schemas = gschema.read_folder(tmp_path)
    assert schemas.settings == []
    assert "'top'" in schemas.unread["a.side"]
    assert "above 9" in schemas.unread["a.size"]
