"""Several changes together, from standard input."""

from __future__ import annotations

import pytest

from conftest import Kept


def test_operations_are_committed_together(kept: Kept) -> None:
    text = '{"set":"a","value":1}\n\n{"set":"b","value":"x"}\n{"reset":"c"}\n{"expect":"d","revision":0}\n'
    assert kept("transaction", "player", input=text).status == 0
    assert kept("get", "player", "a", "b").out == '1\n"x"\n'
    text = '{"expect":"a","value":1}\n{"set":"a","value":2}\n'
    assert kept("transaction", "player", input=text).status == 0
    refused = kept("transaction", "player", input=text)
    assert refused.status == 3
    assert "(line 1)" in refused.err


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[]",
        "{}",
        '{"set":"b"}',
        '{"put":"b","value":1}',
        '{"expect":"b","revision":"x"}',
        '{"set":"","value":1}',
        '{"reset":"b","value":1}',
        '{"add":"b"}',
        '{"add":"a","value":1}',
        '{"remove":"a","value":1}',
        '{"add":"b","remove":"c","value":1}',
        '{"expect":"b","value":1,"revision":1}',
    ],  # fmt: skip
)
def test_a_wrong_line_changes_nothing(kept: Kept, line: str) -> None:
    assert kept("set", "player", "a", "1").status == 0
    done = kept("transaction", "player", input='{"set":"a","value":2}\n' + line)
    assert done.status == 3
    assert "line 2" in done.err
    assert kept("get", "player", "a").out == "1\n"


def test_elements_of_lists_are_added_and_removed_in_order(declared: Kept) -> None:
    text = (
        '{"add":"tags","value":"a"}\n{"add":"tags","value":"b"}\n{"add":"tags","value":"a"}\n'
        '{"remove":"tags","value":"a"}\n{"remove":"tags","value":"none"}\n{"add":"tags","value":"-"}\n'
        '{"set":"title","value":"x"}\n'
    )
    dry = declared("transaction", "player", "--dry-run", input=text)
    assert (dry.status, declared("get", "player", "tags").status) == (0, 1)
    assert declared("transaction", "player", input=text).status == 0
    assert declared("get", "player", "tags", "title").out == '["b","-"]\nx\n'
    # The elements have their declared type, and a refused line changes nothing.
    refused = declared("transaction", "player", input='{"remove":"tags","value":"b"}\n{"add":"tags","value":1}\n')
    assert refused.status == 3 and "(line 2)" in refused.err
    assert declared("get", "player", "tags").out == '["b","-"]\n'
