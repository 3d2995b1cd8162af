"""Declaring, in a store or a transaction, what keys hold for every process and language."""

from __future__ import annotations

import os
from _collections_abc import Mapping  # collections.abc would import all of collections

from ._c.status import kept_error
from ._errors import InvalidError
from ._key import Key, encoded_key, encoded_text, encoded_value
from ._refusal import AnyOf, Known
from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from ._c.store import StorePointer
    from ._refusal import Secrecy, TypedKey


class Declaring:
    """The declarations of a store or a transaction."""

    _handle: StorePointer

    if TYPE_CHECKING:

        def _is_secret(self, key: str | TypedKey) -> bool: ...

    def declare(self, *keys: Key[Any] | Mapping[str, Mapping[str, Any]]) -> None:
        """Declares keys, all or none. From then on, every process and language is refused values of another type and
        values that break a constraint.

        A `kept.Key` declares its type, its default and its constraints; a dict declares names with their JSON Schemas,
        as `declarations` gives them. Declaring the same again changes nothing; another default, summary or constraint
        replaces the old one. A stored value that does not fit stays, reads as absent, and is a `MisfitWarning`.
        `TypeConflictError` if a key is declared with another type; `InvalidError`, or `UnsupportedError` for a word
        that Kept does not have. In C: `kept_declare_list`. In Swift: `Store.declare(_:)`."""
        schemas: dict[str, Any] = {}
        for key in keys:
            declared: Any = {key.name: key.schema} if isinstance(key, Key) else key
            if not isinstance(declared, Mapping) or not all(isinstance(each, Mapping) for each in declared.values()):
                raise InvalidError(
                    "an argument of declare() is neither a kept.Key nor a dict that maps names to JSON Schemas"
                )
            schemas.update(declared)
        if schemas:
            from ._c.declarations import kept_declare_list

            # Anything but false may be meant as true.
            is_secret = any(schema.get("secret", False) is not False for schema in schemas.values())
            secrecy: Secrecy = Known(True) if is_secret else AnyOf(self, tuple(map(str, schemas)))
            json = encoded_value({"properties": schemas}, "declare()", secrecy)
            kept_declare_list(self._handle, json, kept_error())

    def declare_json(self, key: str | Key[Any], schema: str) -> None:
        """Declares a key with a JSON Schema that is text, as `declare`. `InvalidError` has the `offset` of the
        error in the text. In C: `kept_declare_json`."""
        from ._c.declarations import kept_declare_json

        kept_declare_json(self._handle, encoded_key(key), encoded_text(schema, "the JSON Schema"), kept_error())

    def declare_list(self, schema: str) -> None:
        """Declares the keys of a text, all or none, as `declare`: one JSON Schema object with `properties`. Declaring a
        long list again costs one comparison of texts. In C: `kept_declare_list`. In Swift:
        `Store.declare(listJSON:)`."""
        from ._c.declarations import kept_declare_list

        kept_declare_list(self._handle, encoded_text(schema, "the list of declarations"), kept_error())

    def declare_file(self, path: str | os.PathLike[str]) -> None:
        """Declares the keys of a file, all or none, as `declare`: one JSON Schema object with `properties`, which a
        program ships for all its languages. `UnavailableError` if there is no such file, or `DeniedError`.
        In C: `kept_declare_file`. In Swift: `Store.declare(contentsOf:)`."""
        from ._c.declarations import kept_declare_file

        kept_declare_file(self._handle, encoded_text(os.fspath(path), "the path"), kept_error())

    def undeclare(self, key: str | Key[Any]) -> None:
        """Removes a declaration; the value stays. `AbsentError` if there is none.
        In C: `kept_undeclare`. In Swift: `Store.undeclare(_:)`."""
        from ._c.declarations import kept_undeclare

        kept_undeclare(self._handle, encoded_key(key), kept_error())
