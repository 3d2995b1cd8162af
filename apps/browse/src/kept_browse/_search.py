"""The words of the search box: text to find, and filters that begin with @."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._rows import Row

FILTERS: dict[str, tuple[str, Callable[[Row], bool]]] = {
    "@modified": ("changed from the default", lambda row: row.is_modified),
    "@locked": ("locked by the administrator", lambda row: row.is_locked),
    "@shadowed": ("stored, but hidden by a higher layer", lambda row: row.is_shadowed),
    "@invalid": ("has a value that does not match its declaration", lambda row: row.is_invalid),
    "@secret": ("declared secret", lambda row: row.is_secret),
    "@recent": ("changed within a day", lambda row: row.is_recent),
    "@undeclared": ("without a declaration", lambda row: not row.is_declared),
}


@dataclass(frozen=True)
class Query:
    """A search. It finds a key that has all words and passes all filters."""

    words: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    begun: str | None = None
    """A word that may become a filter as more of it is typed. It is ignored until then."""

    @classmethod
    def of(cls, text: str) -> Query:
        """Parses the text of the search box. A word with an @ that does not begin a filter is text to find."""
        words, filters, begun = [], [], None
        for word in text.casefold().split():
            if word in FILTERS:
                filters.append(word)
            elif word.startswith("@") and any(name.startswith(word) for name in FILTERS):
                begun = word
            else:
                words.append(word)
        return cls(tuple(words), tuple(filters), begun)

    @property
    def is_empty(self) -> bool:
        """Whether it finds every key."""
        return not self.words and not self.filters

    def finds(self, text: str, row: Row | None) -> bool:
        """Whether it finds a key, by its searched text and its row. A key that has not been read passes no filter."""
        return all(word in text for word in self.words) and all(
            row is not None and FILTERS[name][1](row) for name in self.filters
        )

    def select(self, keys: list[str], texts: list[str], rows: dict[str, Row]) -> list[str]:
        """The keys that it finds, in order. `texts` has the searched text of each key."""
        pairs = zip(keys, texts, strict=True)
        if len(self.words) == 1:
            word = self.words[0]
            found = [key for key, text in pairs if word in text]
        elif self.words:
            found = [key for key, text in pairs if all(word in text for word in self.words)]
        else:
            found = keys
        for name in self.filters:
            passes = FILTERS[name][1]
            found = [key for key in found if key in rows and passes(rows[key])]
        return found
