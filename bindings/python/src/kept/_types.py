"""The types of values and of arguments. Only annotations need them, and imports, for their formats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypeAlias, TypedDict, Union

from ._timestamps import Timestamp

JSON: TypeAlias = Union[
    None, bool, int, float, str, bytes, datetime, Timestamp, list["JSON"], dict[str, "JSON"]
]  # fmt: skip
"""The type of a value that is read by the name of its key. None is only inside lists and dicts. A `Timestamp` is a date
of year 0, which `datetime` does not have."""

Storable: TypeAlias = Union[
    None, bool, int, float, str, bytes, datetime, Timestamp, Sequence["Storable"], Mapping[str, "Storable"]
]  # fmt: skip
"""What a key can be set to. Sequences are stored as lists; None may only be inside containers."""

Durability = Literal["shared", "durable"]
"""What a write survives when the call returns: `kept.open` says more."""

Format = Literal["kept", "json", "nested_json"]
"""The format of a text to import: an export of Kept; a JSON object whose members are keys; or one whose objects are
parts of keys."""


class Rules(TypedDict, total=False):
    """What else a key may be declared with. The rules hold after `settings.declare(KEY)`."""

    choices: Iterable[Any]
    """The allowed values."""
    minimum: float
    """The smallest int or float."""
    maximum: float
    """The largest int or float."""
    exclusive_minimum: float
    """An int or float must be above this."""
    exclusive_maximum: float
    """An int or float must be below this."""
    multiple_of: float
    """An int or float must be a multiple of this, in decimal: 19.99 is a multiple of 0.01."""
    constant: Any
    """The only allowed value."""
    min_length: int
    """The least number of characters of a str, or of bytes."""
    max_length: int
    """The greatest number."""
    pattern: str
    """A regular expression (PCRE2) that a str must match. It may match anywhere: use ^ and $."""
    min_items: int
    """The least number of elements of a list."""
    max_items: int
    """The greatest number."""
    unique_items: bool
    """Whether no two elements may be equal."""
    min_members: int
    """The least number of members of a dict."""
    max_members: int
    """The greatest number."""
    format: str
    """The kind of text, such as "email". It is a remark and not checked."""
    deprecated: bool
    """Whether programs should stop setting it. Setting it works, and is logged by "kept" once for each store."""
    replaced_by: str
    """The key to set instead of this one, which must be deprecated."""
    renamed_from: str
    """The name that the key had before. Declaring the key moves the value that is stored under the former name, if
    the key has none or an older one, and removes it otherwise. The other layers are read under the former name too, if
    they have nothing under the new one."""
    since: str
    """The version of the program that has the key first. It is a remark."""
    summary: str
    """What the key is for, in a sentence."""
    secret: bool
    """Whether errors, reports and explanations leave out its values: in this program at once, in all others and in the
    log once it is declared."""
