"""The changes of etcd in a round, by key and by revision."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from records import Event, Round, Stamp


class EtcdLog:
    """etcd's own order, by which all other records are judged."""

    def __init__(self, round: Round) -> None:
        self.compacted = round.compacted
        self._before = dict(round.before)
        self._events = sorted(round.events, key=lambda event: event.revision)
        keys = self._before.keys() | {event.key for event in self._events}
        self._of: dict[str, list[Event]] = {key: [Event(0, key, self._before.get(key), None)] for key in keys}
        for event in self._events:
            self._of[event.key].append(event)
        # The last place: a value that comes twice is a fault of its own.
        self._places = {
            (event.key, event.value): place
            for events in self._of.values()
            for place, event in enumerate(events)
            if event.value is not None
        }

    def keys(self) -> set[str]:
        return set(self._of)

    def events(self, key: str) -> list[Event]:
        """The changes of a key; the first, at revision 0, is what it had before the round."""
        return self._of.get(key) or [Event(0, key, None, None)]

    def position(self, key: str, value: str) -> int | None:
        """Where a value is among the changes of a key."""
        return self._places.get((key, value))

    def revision(self, key: str, value: str) -> int | None:
        place = self.position(key, value)
        return None if place is None else self._of[key][place].revision

    def replaced_at(self, key: str, value: str) -> int | None:
        """The revision at which a value was replaced; None if it never was."""
        place = self.position(key, value)
        if place is None or place + 1 == len(self._of[key]):
            return None
        return self._of[key][place + 1].revision

    def by_revision(self) -> Iterator[tuple[int, list[Event]]]:
        for revision, events in groupby(self._events, key=lambda event: event.revision):
            yield revision, list(events)

    def states(self) -> Iterator[tuple[int, dict[str, Stamp]]]:
        """The keys at every revision."""
        state: dict[str, Stamp] = dict(self._before)
        for revision, events in self.by_revision():
            state |= {event.key: event.value for event in events}
            yield revision, state

    def state_at_end(self) -> dict[str, Stamp]:
        state: dict[str, Stamp] = dict(self._before)
        for _, last in self.states():
            state = last
        return {key: value for key, value in state.items() if value is not None}
