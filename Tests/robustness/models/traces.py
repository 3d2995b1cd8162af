#!/usr/bin/env python3
"""Replays traces of the simulator against the model of commits: the model must permit each step in its state.

    python3 Tests/robustness/models/traces.py SCHEDULES COUNT

SCHEDULES is the program of Tests/simulation, which prints a trace of each of the seeds up to COUNT.

A trace has the writes, syncs and names of files, the words of the pulse, the locks, and the processes that have ended.
A write of frames or a seal, its publishing and its erasing, the making and removing of a journal, a fold, the renaming
and announcing of a checkpoint, and the opening by one process alone are steps of the model's programs, one for each
commit, checkpoint and opening. Its other locks, syncs and writes are compared with what the model takes for granted
(who holds the write lock, what was synced before it gets its name, checksums). A sync may happen at any time; when
`synced` is raised, the model's judge must find it right after every loss of power. The replay ends where a trace loses
the power.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from commits import COMMITS, Model, State
from explore import Found

WRITE, SYNC, SYNC_FOLDER, MAKE, RENAME, REMOVE, WORD, LOCK, LOCK_FOLDER, GONE, POWER = range(1, 12)
PUBLISHED, CHECKPOINT, SYNCED, DIRTY, DOUBT, OWNER = range(64, 385, 64)
FIRST_BYTE, UNLOCKED = 1 << 40, 2
SHARED, ALONE = 1, 2
HEAD, SEAL = 512, 17

TABLE = list(range(256))
for _ in range(8):
    TABLE = [n >> 1 ^ (0x82F63B78 if n & 1 else 0) for n in TABLE]


def crc(data: bytes) -> bytes:
    total = 0xFFFFFFFF
    for byte in data:
        total = TABLE[(total ^ byte) & 255] ^ total >> 8
    return (total ^ 0xFFFFFFFF).to_bytes(4, "little")


def number(data: bytes | bytearray, at: int, size: int = 8) -> int:
    return int.from_bytes(data[at : at + size], "little")


class Event(NamedTuple):
    step: int
    process: int
    call: int
    file: int
    offset: int
    name: str
    other: str
    data: bytes


def events(lines: Iterable[str]) -> list[Event]:
    found: list[Event] = []
    last: dict[int, int] = {}
    for line in lines:
        *numbers, name, other, data = line.split()
        step, process, call, file, offset, count = map(int, numbers)
        one = Event(
            step, process, call, file, offset, name, other, bytes(count) if data == "-" else bytes.fromhex(data)
        )
        before = found[last[process]] if process in last else one
        # A signal may have come in between.
        if call == before.call == WRITE and (file, offset) == (before.file, before.offset + len(before.data)):
            found[last[process]] = before._replace(data=before.data + one.data)
            continue
        last[process] = len(found)
        found.append(one)
    return found


class Journal:
    def __init__(self, file: int, begin: int) -> None:
        self.file, self.begin = file, begin  # the model's file, and the position of its first frame


class Replay:
    def __init__(self) -> None:
        COMMITS.clear()
        self.model = Model()
        self.state: State | None = None
        self.names: dict[str, int] = {}
        self.contents: dict[int, bytearray] = {}
        self.unsynced: set[int] = set()
        self.names_synced = False
        self.words: dict[int, int] = defaultdict(int)
        self.journals: dict[int, Journal] = {}
        # For each position of the model, that of the trace, and the checksum before it.
        self.places: dict[int, tuple[int, bytes]] = {0: (0, bytes(4))}
        self.pending: dict[int, str] = {}  # commits that are written, by process
        self.held: dict[int, int] = {}  # the bytes of the pulse, by process
        self.owner = self.alone = -1

    def step(self, me: str, *expected: str) -> str:
        """Takes a step of one of the model's programs, which must be at one of the expected ones."""
        state = self.state
        assert state
        if me not in state.actors or state.actors[me][0] not in expected:
            raise Found(
                f"the model is at {state.actors.get(me, ['nothing'])[0]}", f"{me} is at {' or '.join(expected)}"
            )
        program = {"W": self.model.writer, "C": self.model.maker, "O": self.model.opener}[me[0]]
        at = str(state.actors[me][0])
        if not program(state, me, False):
            raise Found("its state is another one", f"{me}: {at}")
        return at

    def at(self, me: str) -> str:
        return str(self.state.actors[me][0]) if self.state and me in self.state.actors else ""

    @staticmethod
    def require(condition: bool, what: str) -> None:
        if not condition:
            raise Found("it is against a rule", what)

    def position(self, real: int) -> int:
        """The model's position, at most the last one that is written."""
        return next(at for at in sorted(self.places, reverse=True) if self.places[at][0] == real)

    # ---- Files

    def write(self, event: Event) -> None:
        content = self.contents.setdefault(event.file, bytearray())
        end = event.offset + len(event.data)
        content.extend(bytes(max(0, end - len(content))))
        if event.file == self.names.get(f"history.{number(self.checkpoint, 104)}") and any(event.data):
            length = number(self.checkpoint, 112)
            self.require(event.offset >= length, "the history is changed before its end")
        content[event.offset : end] = event.data
        self.unsynced.add(event.file)
        journal = self.journals.get(event.file)
        if not journal or not self.state or end <= HEAD:
            return
        real = journal.begin + event.offset - HEAD
        if any(event.data):
            self.write_frames(event, journal, real)
            return
        self.require(real >= self.words[PUBLISHED], "zeros are written over a published frame")
        me = self.pending.get(event.process)
        if me and self.at(me) == "publish" and self.places[self.state.actors[me][5]][0] == real:
            _, has_open, left, file, place, _ = self.state.actors[me]
            # The write had failed.
            self.state.go(me, "erase", has_open, left, file, place)
            self.step(me, "erase")
            del self.pending[event.process]

    @property
    def checkpoint(self) -> bytearray:
        return self.contents.get(self.names.get("values", -1), bytearray(4096))

    def write_frames(self, event: Event, journal: Journal, real: int) -> None:
        state, data, frames, maker = self.state, event.data, [], f"C{event.process}p"
        assert state
        self.require(self.owner == event.process, "frames are written without the write lock")
        position = self.position(self.words[PUBLISHED])
        self.require(self.places[position][0] == real, f"frames are written at {real}, and not at the end")
        previous = self.places[position][1]
        key = bytes(self.contents[event.file][32:40])
        while len(data) >= 8 and number(data, 0, 4) and number(data, 0, 4) // 8 * 8 <= len(data):
            frame = data[: number(data, 0, 4) // 8 * 8]
            place = real.to_bytes(8, "little") + previous + bytes(4)
            self.require(crc(key + place + frame[:4] + frame[8:]) == frame[4:8], f"the checksum of the frame at {real}")
            real, previous, data = real + len(frame), frame[4:8], data[len(frame) :]
            frames.append(frame)
            self.places[position + len(frames)] = (real, previous)
        if not frames:
            return  # The write has failed after a part of the first one.
        if number(frames[0], 0, 4) == SEAL:
            following = self.journals[self.names[f"journal.{number(self.contents[event.file], 40) + 1}"]]
            head = next(self.contents[file] for file, known in self.journals.items() if known is following)
            self.require(frames[0][8:16] == bytes(head[32:40]), "a seal names another journal")
            following.begin = real
            if self.at(maker) == "rotate":
                self.step(maker, "rotate")
            me = maker
            self.step(me, "seal")
            self.require(self.places[state.actors[me][2]][0] == self.words[PUBLISHED], "the seal is elsewhere")
            return
        me = self.pending[event.process] = f"W{event.step}"
        COMMITS[me] = tuple(f"{me}.{at}" for at in range(len(frames)))
        state.actors[me] = ("begin", None, 1)
        self.step(me, "begin")
        self.require(state.actors[me][3] == journal.file, "frames are written into another journal")

    def sync(self, event: Event) -> None:
        self.unsynced.discard(event.file)
        if self.state and (journal := self.journals.get(event.file)):
            self.state.sync(journal.file, fails=event.call < 0)

    def sync_folder(self, event: Event) -> None:
        self.names_synced = True
        for me, steps in [(f"C{event.process}p", ("names", "renamed", "remains")), ("O", ("remains",))]:
            if self.at(me) in steps and (me != "O" or self.alone == event.process):
                self.step(me, *steps)
                return
        if self.state:
            self.state.sync_names()

    def rename(self, event: Event) -> None:
        file = self.names[event.other] = self.names.pop(event.name)
        self.names_synced = False
        me, state = f"C{event.process}p", self.state
        if not state or event.other.startswith("history."):
            return
        self.require(file not in self.unsynced, f"{event.other} gets its name before it is synced")
        if self.at(me) == "rotate":
            self.step(me, "rotate")
        if event.other == "values":
            history = self.names.get(f"history.{number(self.contents[file], 104)}", -1)
            self.require(history not in self.unsynced, "a checkpoint gets its name before the history is synced")
            self.step(me, "fold")
            _, folded, _, end = state.actors[me]
            real = number(self.contents[file], 32) + 1, number(self.contents[file], 40)
            self.require(real == (folded, self.places[end][0]), f"the checkpoint is {real}")
            self.step(me, "rename")
            return
        self.step(me, "make")
        made = number(self.contents[file], 40) + 1
        self.require(state.actors[me][1] == made, f"{event.other} is not the next journal")
        self.journals[file] = Journal(state.names[made][0], -1)

    def remove(self, event: Event) -> None:
        self.names.pop(event.name, None)
        self.names_synced = False
        if self.state and event.name.startswith("journal."):
            me = "O" if self.alone == event.process else f"C{event.process}p"
            if self.at(me) == "unlink":
                removed = self.state.actors[me][1] - 1
                self.require(removed == int(event.name[8:]), f"{event.name} is removed instead of journal.{removed}")
            self.step(me, "unlink")
            self.judge()

    # ---- Words and locks

    def word(self, event: Event) -> None:
        before, self.words[event.offset] = self.words.get(event.offset, 0), event.file
        state, me = self.state, f"C{event.process}p"
        if not state or self.alone == event.process:
            return
        if event.offset == PUBLISHED:
            writer = self.pending.pop(event.process, me)
            self.step(writer, "publish")
            if writer != me:
                state.end(writer)
            self.require(self.places[state.published][0] == event.file, f"{event.file} is published")
        elif event.offset in (CHECKPOINT, DOUBT) and self.at(me) in ("raise", "rotate"):
            self.step(me, "raise", "rotate")
        if event.offset == CHECKPOINT:
            self.require(state.checkpoint == event.file + 1, f"checkpoint {event.file} is announced")
        elif event.offset == DOUBT:
            state.doubt = max(state.doubt, event.file + 1) if event.file else state.doubt
            self.require((state.doubt != 0) == (event.file != 0), "a doubt ends")
        elif event.offset == SYNCED:
            state.synced = self.position(event.file)
            self.judge()
        elif event.offset == OWNER:
            if event.file:
                byte = FIRST_BYTE + 1 + (before & (1 << 61) - 1)
                self.require(before == 0 or byte not in self.held, "the write lock is taken from a living process")
                self.owner = event.process
            else:
                self.require(self.owner == event.process, "a process releases the lock of another one")
                self.require(event.process not in self.pending, "frames stay that are not published")
                self.owner = -1

    def judge(self) -> None:
        """Judges a loss of power now; commits that are not synced make no difference, and would take long."""
        assert self.state
        state = State(self.state.frozen())
        if not (has_open := self.model.open(state.folder)):
            raise Found("the checkpoint or its journal is missing", "a loss of power")
        state.durable = len(self.model.follow(state.folder, *has_open, state.synced).commits)
        chain = self.model.follow(state.folder, *has_open, state.published)
        for file in chain.files:
            first = next((place for place, cell in enumerate(state.files[file]) if len(cell[1]) > 1), 0)
            state.files[file] = tuple(
                cell if place == first else (cell[0], frozenset([cell[0]]))
                for place, cell in enumerate(state.files[file])
            )
        for fault in self.model.judge(state):
            raise Found(fault, f"synced is {state.synced}")

    def lock(self, event: Event) -> None:
        me = f"C{event.process}p"
        if event.offset > FIRST_BYTE:
            self.held[event.offset] = event.process
            if event.file == UNLOCKED:
                del self.held[event.offset]
        elif event.offset == FIRST_BYTE and self.state and event.file != UNLOCKED:
            self.require(not self.at(me), "a process makes two checkpoints")
            self.state.actors[me] = ("begin",)
            self.step(me, "begin")
        elif event.offset == FIRST_BYTE and self.state:
            self.require(self.at(me) != "publish", "a seal stays that is not published")
            self.state.actors.pop(me, None)
            self.state.maker = ""

    def lock_folder(self, event: Event) -> None:
        if event.file == ALONE:
            self.alone = event.process
            if self.state:
                # The opening before may have failed.
                self.state.actors.pop("O", None)
                self.require(not self.state.actors, f"a process opens alone next to {self.state.actors}")
                self.state.owner = self.state.maker = ""
                self.state.actors = {"O": ("begin",)}
                self.step("O", "begin")
        elif self.alone == event.process:
            if event.file == SHARED:
                self.set_up()
            elif self.state:
                self.state.actors.pop("O", None)
            self.alone = -1

    def set_up(self) -> None:
        if not self.state:
            file = self.names["journal.0"]
            is_synced = self.names_synced and not self.unsynced & {file, self.names["values"]}
            self.require(is_synced, "a new store is opened before it is on the disk")
            self.state = State(self.model.initial)
            self.state.actors, self.state.kills, self.state.failures = {}, -1, 0
            self.journals[file] = Journal(self.state.names[1][0], 0)
        else:
            self.step("O", "set up")
            self.state.actors = {}
        state, words = self.state, self.words
        real = [words.get(word, 0) for word in (PUBLISHED, SYNCED)]
        expected = [self.places[at][0] for at in (state.published, state.synced)]
        self.require(real == expected, f"the pulse has {real} and not {expected}")
        self.require((words.get(DOUBT, 0) != 0) == (state.doubt != 0), "a doubt is forgotten")
        self.judge()

    def gone(self, process: int) -> None:
        self.held = {byte: held for byte, held in self.held.items() if held != process}
        mine = {f"C{process}p", self.pending.pop(process, "")} | ({"O"} if self.alone == process else set())
        self.alone = -1 if self.alone == process else self.alone
        if self.state:
            self.state.actors = {me: actor for me, actor in self.state.actors.items() if me not in mine}
            self.state.maker = "" if self.state.maker in mine else self.state.maker

    def replay(self, trace: list[Event]) -> int:
        """Returns the number of steps."""
        calls = {WRITE: self.write, SYNC: self.sync, -SYNC: self.sync, SYNC_FOLDER: self.sync_folder}
        calls |= {RENAME: self.rename, REMOVE: self.remove, WORD: self.word, LOCK: self.lock}
        for at, event in enumerate(trace):
            try:
                if event.call == POWER:
                    return at
                if event.call == MAKE:
                    self.names[event.name] = event.file
                    self.contents[event.file], self.names_synced = bytearray(), False
                elif event.call == GONE:
                    self.gone(event.file)
                elif event.call == LOCK_FOLDER:
                    self.lock_folder(event)
                else:
                    calls[event.call](event)
            except Found as found:
                fault, what = found.args
                raise Found(fault, f"step {event.step}, process {event.process}: {what}") from None
        return len(trace)


if __name__ == "__main__":
    steps = 0
    for seed in range(1, 1 + int(sys.argv[2])):
        made = subprocess.run([sys.argv[1], str(seed), "events"], stdout=subprocess.PIPE, text=True, check=False)
        try:
            steps += Replay().replay(events(made.stdout.splitlines()))
        except Found as found:
            print(f"FAULT with seed {seed}: the model does not permit {found.args[1]}: {found.args[0]}")
            sys.exit(1)
    print(f"the model permits {steps} steps of {sys.argv[2]} seeds")
