"""What observers and stores have told a scenario, and whether it is what the scenario expects."""

from __future__ import annotations

import logging
import threading
from typing import Any

import kept
from kept._c.status import kept_status_text
from kept._json import decode
from scenario_text import Step, name_of_layer, text, word

LIMITS = ("after", "before")
"""The fields of a notice that name a clock."""

# --- what observers receive


class Listener:
    """An observer of a scenario: it keeps what it receives until a step takes it."""

    def __init__(self, once: bool) -> None:
        self.once = once
        self.subscription: kept.Subscription | None = None
        self.received: list[Step] = []
        self.expected_count = 0
        self.news = threading.Condition()

    def receive(self, subject: kept.Notice | kept.Change[Any]) -> None:
        changes = subject.changes if isinstance(subject, kept.Notice) else (subject,)
        notice = {
            "revision": subject.revision,
            "first": subject.revisions[0],
            "tag": subject.tag,
            "missed": subject.may_have_missed,
            "time": subject.time_ns,
            "origin": subject.origin.name.lower(),
            "changes": [
                {
                    "key": change.key,
                    "old": repr(change.old),
                    "new": repr(change.new),
                    "layer": name_of_layer(change.layer),
                    "secret": change.secret,
                }
                for change in changes
            ],
        }
        with self.news:
            self.received.append(notice)
            self.news.notify_all()
            if self.once:
                assert self.news.wait_for(lambda: self.subscription is not None, 60)
        if self.once:
            self.end()

    def next(self, count: int) -> list[Step]:
        first, self.expected_count = self.expected_count, self.expected_count + count
        with self.news:
            assert self.news.wait_for(lambda: len(self.received) >= self.expected_count, 60), (
                "too few notices came in a minute"
            )
        return self.received[first : self.expected_count]

    def end(self) -> None:
        assert self.subscription is not None
        self.subscription.cancel()


def expected_notices(notices: list[Step]) -> list[Step]:
    """What a scenario expects, in the form of a listener: values as Python shows them."""

    def value(form: Any) -> str:
        return repr(None if form is None else decode(text(form)))

    return [
        {
            "first": notice["revision"],
            "tag": None,
            "missed": False,
            **{name: value for name, value in notice.items() if name not in LIMITS},
            "changes": [
                {**change, "key": word(change["key"]), "old": value(change["old"]), "new": value(change["new"])}
                for change in notice["changes"]
            ],
        }
        for notice in notices
    ]


def is_part(expected: Any, found: Any) -> bool:
    """Whether everything that is expected was found; members that a scenario does not name may be anything."""
    if isinstance(expected, dict):
        return all(name in found and is_part(part, found[name]) for name, part in expected.items())
    if isinstance(expected, list):
        return len(expected) == len(found) and all(map(is_part, expected, found))
    return type(expected) is type(found) and bool(expected == found)


# --- what stores report


class Reports(logging.Handler):
    """What has been reported: by each store, since it was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.received: dict[int, list[kept.KeptError]] = {}
        self.news = threading.Condition()
        logging.getLogger("kept").addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        if number := getattr(record, "kept_report", None):
            with self.news:
                self.received.setdefault(number, []).append(record.kept_error)  # type: ignore[attr-defined]
                self.news.notify_all()

    def next(self, store: kept.Store, count: int) -> list[kept.KeptError]:
        with self.news:
            number = store._reports
            came = self.news.wait_for(lambda: len(self.received.get(number, [])) >= count, 60)
            assert came, f"too few reports came in a minute: {self.received.get(number, [])}"
            return self.received.pop(number, [])


def reported(expected: list[Step], received: list[kept.KeptError]) -> bool:
    """Whether these are the reports, in any order."""
    received = list(received)
    for report in expected:
        for error in received:
            names_key = "key" not in report or f'"{report["key"]}"' in str(error)
            if kept_status_text(error.status).decode() == report["status"] and names_key:
                received.remove(error)
                break
        else:
            return False
    return not received
