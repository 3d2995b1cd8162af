"""Commit, rotation, checkpoint and recovery: every interleaving, every kill, every failed call, every loss of power.

The folder: names lead to files, and a file is a row of cells, each with one frame, head or checkpoint. For each cell
and each name the model has the present content and all that may be on the disk; a sync leaves the present one. A loss
of power chooses any of them for each cell and name, independently, which is more than ext4, xfs and btrfs permit. A
position counts frames; the number of a content stands for its bytes and for its checksum.

The programs: W1, which has the store open, commits `a1` and `b1` in one write; W2 joins and commits `a2`, durably; C1
and then C2 make a checkpoint. One write or sync may fail, and one of them may be killed, or all: then O opens the store
alone, W3 flushes and commits `d3`, durably, and C3 makes a checkpoint. R opens the store only to read.

What must hold: after any kills, all that was published is there; after a loss of power, a beginning of it with all that
was acknowledged as durable, and the store is not taken for damaged. In both cases, frames may follow whose writer was
killed before it published them, but none of a commit that has failed. The history of the checkpoint has each commit
once. R sees what was published at some time between its start and its end.

Left out: the locks of the folder, the order of memory accesses (`arm.py`), damage, and pruning of the history.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from explore import Found

# With the numbers that the design gives them, and their file in Sources/KeptEngine.
RULES = {
    "ready": "(3) a journal and its name are synced before a seal names it (Store/Recovery)",
    "again": "(3) a journal that another process has prepared is made again (Store/Checkpointing)",
    "seal": "(4) a seal decides that the next journal follows, and not its presence (Store/Chain)",
    "chain": "(5) the checksum of a frame covers the frame before (Frames/FrameReader)",
    "writer": "(5) a frame has its writer's random number (Frames/FrameFormat)",
    "owner": "(6) the write lock is not taken from a living process (Pulse/Pulse)",
    "erase": "(6) zeros are written over the head of a frame that failed, and synced (Journal/Journal)",
    "name": "(8) a sync includes the folder if the pulse names an older checkpoint (Store/Syncing)",
    "every": "(8) a sync includes each journal since the checkpoint (Store/Syncing)",
    "opened": "(8) who opens alone syncs the folder if an older journal is left (Store/Recovery)",
    "synced": "(8) who opens alone takes as synced what was synced in this boot, and no more (Store/Recovery)",
    "boot": "(8) after another boot, what was published need not be there (Pulse/PulseWords)",
    "doubt": "(9) after a failed sync, no sync is believed before a newer checkpoint (Store/Syncing)",
    "believe": "(9) who opens alone believes the doubt of the pulse (Store/Recovery)",
    "missing": "(9) who opens alone without a pulse doubts the journal (Store/Recovery)",
    "maker": "(10) the lock of checkpoints is not taken from a living process (Pulse/Pulse)",
    "draft": "(10) a checkpoint is synced before it is renamed (Values/ValuesWriter)",
    "renamed": "(10) the folder is synced before the checkpoint is announced (Store/Checkpointing)",
    "unlink": "(11) the folder is synced before a journal is removed (Store/Recovery)",
    "past": "(12) the history is synced before the checkpoint is renamed (Store/Past)",
    "behind": "(12) the history is added to at the length that the checkpoint names (Store/Past)",
    "bound": "(16) who only reads stops at `published` (Store/ReadOnlyEngine)",
}

COMMITS = {"W1": ("a1", "b1"), "W2": ("a2",), "W3": ("d3",)}
AFTER = {"C2": "C1", "C3": "W3"}  # programs that begin after others, which makes fewer states
VALUES = -1  # the name of the checkpoint; a journal has its number, from 1 on
HISTORY = 1 << 32  # the file of the history; the numbers of files are the only ones as large
LOST = -1  # among the possible contents of a cell: the system has given up to write it

Content = tuple[Any, ...]
Cell = tuple[int, frozenset[int]]
CONTENTS: list[Content] = [("zeros",)]
NUMBERS: dict[Content, int] = {CONTENTS[0]: 0}


def number_of(*content: Any) -> int:
    if content not in NUMBERS:
        NUMBERS[content] = len(CONTENTS)
        CONTENTS.append(content)
    return NUMBERS[content]


class Folder(NamedTuple):
    """The names and the files as processes see them, or as a loss of power leaves them."""

    names: dict[int, int]
    files: dict[int, list[int]]

    def cell(self, file: int, place: int) -> int:
        cells = self.files.get(file, [])
        return cells[place] if place < len(cells) else 0

    def journal(self, file: int) -> int | None:
        """The id of a journal."""
        head = CONTENTS[self.cell(file, 0)]
        return head[1] if head[0] == "journal" else None


class Chain(NamedTuple):
    """A checkpoint and the journals that follow it, as far as they were read."""

    number: int
    files: list[int]
    place: int
    position: int
    previous: int
    commits: tuple[str, ...]
    is_gone: bool


class State:
    """A state while a step changes it: the folder, the words of the pulse, the programs, and what the judge knows."""

    def __init__(self, frozen: Content) -> None:
        names, files, actors, words, truth = frozen
        self.names: dict[int, Cell] = dict(names)
        self.files: dict[int, tuple[Cell, ...]] = dict(files)
        # The step of each program that runs, and its variables.
        self.actors: dict[str, Content] = dict(actors)
        self.published, self.checkpoint, self.synced, self.doubt, self.owner, self.maker = words
        # What was published, how much of it is durable, which commits have failed, and what may still go wrong.
        self.commits, self.durable, self.failed, self.kills, self.failures, self.made = truth

    def frozen(self, is_on_disk: bool = False) -> Content:
        if is_on_disk:
            self.sync_names()
            for file in self.files:
                self.sync(file)
        used = {HISTORY}.union(*(possible for _, possible in self.names.values()))
        used |= {part for _, *parts in self.actors.values() for part in _flat(parts)}
        return (
            tuple(sorted(self.names.items())),
            tuple(sorted((file, cells) for file, cells in self.files.items() if file in used)),
            tuple(sorted(self.actors.items())),
            (self.published, self.checkpoint, self.synced, self.doubt, self.owner, self.maker),
            (self.commits, self.durable, self.failed, self.kills, self.failures, self.made),
        )

    @property
    def folder(self) -> Folder:
        names = {name: now for name, (now, _) in self.names.items()}
        return Folder(names, {file: [now for now, _ in cells] for file, cells in self.files.items()})

    def write(self, file: int, place: int, content: int) -> None:
        cells = [*self.files[file]]
        cells += [(0, frozenset([0]))] * (place + 1 - len(cells))
        cells[place] = (content, cells[place][1] - {LOST} | {content})
        self.files[file] = tuple(cells)

    def sync(self, file: int, fails: bool = False) -> None:
        # What a failed sync has not written stays unwritten, and a later one does not tell.
        def cell(now: int, possible: frozenset[int]) -> Cell:
            if fails and len(possible) > 1:
                return now, possible | {LOST}
            return now, possible if fails or LOST in possible else frozenset([now])

        self.files[file] = tuple(cell(*each) for each in self.files[file])

    def make(self, *contents: int) -> int:
        file = next(number for number in itertools.count(HISTORY + 1) if number not in self.files)
        self.files[file] = ()
        for place, content in enumerate(contents):
            self.write(file, place, content)
        return file

    def name(self, name: int, file: int) -> None:
        """Gives a file a name; 0 removes the name."""
        self.names[name] = (file, self.names.get(name, (0, frozenset([0])))[1] | {file})

    def sync_names(self) -> None:
        self.names = {name: (now, frozenset([now])) for name, (now, _) in self.names.items() if now}

    def go(self, me: str, *step: Any) -> None:
        self.actors[me] = step

    def end(self, me: str) -> None:
        """The program has ended, or was killed: it holds no lock."""
        del self.actors[me]


def _flat(parts: Any) -> Iterator[Any]:
    for part in parts:
        if isinstance(part, tuple):
            yield from _flat(part)
        else:
            yield part


class Model:
    """The programs without one of the rules, or with all."""

    def __init__(self, without: str = "", reader: bool = False) -> None:
        self.without, self.reader = without, reader
        values, journal = number_of("values", 1, 0, 0, (), 0), number_of("journal", 0)
        state = State(((), (), (), (0, 1, 0, 0, "", ""), ((), 0, (), 1, not reader, 0)))
        state.files[HISTORY] = ()
        for name, content in [(VALUES, values), (1, journal)]:
            state.name(name, state.make(content))
            state.sync(state.names[name][0])
        state.sync_names()
        has_open = (values, state.names[1][0])
        state.actors = {"W1": ("begin", has_open, 1), "W2": ("begin", None, 1), "C1": ("begin",), "C2": ("begin",)}
        state.actors |= {"R": ("begin", None)} if reader else {}
        self.initial = state.frozen()
        self.judged: dict[Content, list[str]] = {}

    def has(self, rule: str) -> bool:
        # What a reader sees does not depend on what is on the disk.
        return rule != self.without and not (self.reader and rule in ("ready", "renamed", "unlink"))

    def text(self, commit: str) -> str:
        """What the frame of a commit has besides its place."""
        return commit if self.has("writer") else commit[0]

    # ---- What is read

    def follow(self, folder: Folder, values: int, file: int, limit: int | None) -> Chain:
        """Reads the frames after a checkpoint up to a position, or as far as they verify."""
        _, number, position, previous, commits, _ = CONTENTS[values]
        files, begin, is_gone = [file], position, False
        covered = 3 if self.has("chain") else 2
        while (goes_on := limit is None or position < limit) or not self.has("seal"):
            cell = folder.cell(files[-1], 1 + position - begin)
            kind, *frame = CONTENTS[cell]
            following = folder.names.get(number + 1, 0)
            if goes_on and frame[:covered] == [folder.journal(files[-1]), position, previous][:covered]:
                if kind == "seal" and folder.journal(following) != frame[3]:
                    # A seal is valid only with the journal that it names.
                    is_gone = True
                    break
                position, previous = position + 1, cell
                if kind == "frame":
                    commits = (*commits, frame[3])
                    continue
            elif self.has("seal") or folder.journal(following) is None:
                break
            number, begin = number + 1, position
            files.append(following)
        return Chain(number, files, 1 + position - begin, position, previous, commits, is_gone)

    def catch_up(self, state: State, has_open: tuple[int, int] | None) -> tuple[tuple[int, int], Chain] | None:
        """Reads all that is published, as a process does that has a checkpoint and its journal open, or joins."""
        folder = state.folder
        if not has_open or state.checkpoint > CONTENTS[has_open[0]][1]:
            has_open = self.open(folder)
        if not has_open:
            return None
        chain = self.follow(folder, *has_open, state.published)
        if chain.position < state.published or chain.commits != state.commits:
            raise Found(f"{chain} is not what was published: {state.commits}", "a process catches up")
        return has_open, chain

    @staticmethod
    def open(folder: Folder) -> tuple[int, int] | None:
        values = folder.cell(folder.names.get(VALUES, 0), 0)
        file = folder.names.get(CONTENTS[values][1], 0) if values else 0
        return (values, file) if folder.journal(file) is not None else None

    # ---- Writers

    def writer(self, state: State, me: str, fails: bool) -> str | None:
        step, has_open, left, *local = state.actors[me]
        if step == "begin":
            if self.has("owner") and state.owner in state.actors:
                return None
            if not (found := self.catch_up(state, has_open)):
                return None
            state.owner = me
            has_open, chain = found
            previous, file = chain.previous, chain.files[-1]
            for at, commit in enumerate(COMMITS[me]):
                journal = state.folder.journal(file)
                previous = number_of("frame", journal, chain.position + at, previous, self.text(commit))
                state.write(file, chain.place + at, previous)
            if not fails:
                state.go(me, "publish", has_open, left - 1, file, chain.place, chain.position)
                return f"locks, and writes {COMMITS[me]}"
            state.failures -= 1
            if self.has("erase"):
                state.go(me, "erase", has_open, left, file, chain.place)
            else:
                self.refuse(state, me)
            return f"locks, and fails to write {COMMITS[me]}"
        if step == "publish":
            file, place, position = local
            if state.published != position:
                state.go(me, "erase", has_open, left, file, place)
                return "finds that another process has published"
            state.published += len(COMMITS[me])
            state.commits += tuple(map(self.text, COMMITS[me]))
            state.owner = ""
            if me == "W1" or self.reader:
                state.end(me)
            else:
                state.go(me, "sync", has_open, left)
            return "publishes, and unlocks"
        if step == "erase":
            file, place = local
            state.write(file, place, 0)
            state.sync(file)
            self.refuse(state, me)
            return "writes zeros over the head, and syncs them"
        return self.syncer(state, me, fails)

    def refuse(self, state: State, me: str) -> None:
        state.failed += COMMITS[me]
        state.owner = ""
        state.end(me)

    def syncer(self, state: State, me: str, fails: bool) -> str | None:
        step, has_open, left, *local = state.actors[me]

        def acknowledge(commits: int) -> str:
            state.durable = max(state.durable, commits)
            if left:
                state.go(me, "begin", has_open, left)
            else:
                state.end(me)
            return f"acknowledges {commits} commits as durable"

        if step == "sync":
            if not (found := self.catch_up(state, has_open)):
                return None
            has_open, chain = found
            if state.synced >= state.published:
                return acknowledge(len(state.commits))
            if state.doubt:
                # The caller gets an error, or a checkpoint ends it.
                return None
            is_newer = CONTENTS[has_open[0]][1] > state.checkpoint and self.has("name")
            files = tuple(chain.files if self.has("every") else chain.files[-1:])
            aim = (state.published, len(state.commits), chain.number)
            state.go(me, "folder" if is_newer else "file", has_open, left, files, aim)
            return "begins to sync"
        if step == "folder":
            state.sync_names()
            state.go(me, "file", has_open, left, *local)
            return "syncs the folder"
        files, aim = local
        number = aim[2] + 1 - len(files)
        state.sync(files[0], fails)
        if fails:
            state.failures -= 1
            if self.has("doubt"):
                state.doubt = max(state.doubt, number + 1)
            state.go(me, "sync", has_open, left)
            return f"fails to sync journal.{number}, and tries again"
        if files[1:]:
            state.go(me, "file", has_open, left, files[1:], aim)
            return f"syncs journal.{number}"
        state.synced = max(state.synced, aim[0])
        return f"syncs journal.{number}, and {acknowledge(aim[1])}"

    # ---- Checkpoints, and the process that opens the store alone

    def maker(self, state: State, me: str, fails: bool) -> str | None:
        step, *local = state.actors[me]
        if step == "begin":
            if self.has("maker") and (state.maker in state.actors or AFTER.get(me) in state.actors):
                return None
            state.maker = me
            return "takes the lock of checkpoints" + self.begin_to_finish(state, me, "rotate")
        if step in ("remains", "unlink"):
            return self.finish(state, me)
        if step == "rotate":
            if not (found := self.catch_up(state, None)):
                return None
            self.announce(state, CONTENTS[found[0][0]][1])
            is_sealed = len(found[1].files) > 1
            following = state.folder.names.get(found[1].number + 1, 0)
            is_ready = not self.has("again") and state.folder.journal(following) is not None
            state.go(me, "fold" if is_sealed else "seal" if is_ready else "make", found[1].number + (not is_sealed))
            return f"has finished the checkpoint before, and ends with journal.{found[1].number}"
        (number,) = local[:1]
        if step == "make":
            state.made += 1
            file = state.make(number_of("journal", state.made))
            if self.has("ready"):
                state.sync(file)
            state.name(number, file)
            state.go(me, "names" if self.has("ready") else "seal", number)
            return f"makes journal.{number}"
        if step == "names":
            state.sync_names()
            state.go(me, "seal", number)
            return "syncs the folder"
        if step == "seal":
            if self.has("owner") and state.owner in state.actors:
                return None
            if not (found := self.catch_up(state, None)):
                return None
            chain, folder = found[1], state.folder
            if chain.number != number - 1:
                state.end(me)
                return "finds that the journals have changed"
            state.owner = me
            ids = folder.journal(chain.files[-1]), folder.journal(folder.names[number])
            seal = number_of("seal", ids[0], chain.position, chain.previous, ids[1])
            state.write(chain.files[-1], chain.place, seal)
            state.go(me, "publish", number, chain.position)
            return "locks, and writes the seal"
        if step == "publish":
            if state.published != local[1]:
                raise Found("another process has published", f"{me} publishes the seal")
            state.published += 1
            state.owner = ""
            state.go(me, "fold", number)
            return "publishes the seal, and unlocks"
        if step == "fold":
            return self.fold(state, me, number)
        position = local[-1]
        if step == "rename":
            state.name(VALUES, local[1])
            state.go(me, "renamed" if self.has("renamed") else "raise", number, position)
            return "renames the draft"
        if step == "renamed":
            state.sync_names()
            state.go(me, "raise", number, position)
            return "syncs the folder"
        self.announce(state, number)
        state.synced = max(state.synced, position)
        return f"announces checkpoint {number}" + self.begin_to_finish(state, me, "")

    def fold(self, state: State, me: str, number: int) -> str | None:
        folder = state.folder
        if not (has_open := self.open(folder)):
            raise Found("the checkpoint or its journal is missing", f"{me} folds")
        _, before, begin, _, known, length = CONTENTS[has_open[0]]
        # To the end of the seal, with which journal `number` begins.
        end = next(
            (at for at in range(begin, state.published + 1) if self.follow(folder, *has_open, at).number == number),
            None,
        )
        if end is None:
            raise Found(f"the journals after checkpoint {before} do not lead to journal.{number}", f"{me} folds")
        chain = self.follow(folder, *has_open, end)
        offset = length if self.has("behind") else len(state.files[HISTORY])
        for at, commit in enumerate(chain.commits[len(known) :]):
            state.write(HISTORY, offset + at, number_of("past", commit))
        length = offset + len(chain.commits) - len(known)
        draft = state.make(number_of("values", number, end, chain.previous, chain.commits, length))
        if self.has("past"):
            state.sync(HISTORY)
        if self.has("draft"):
            state.sync(draft)
        state.go(me, "rename", number, draft, end)
        return f"folds the journals before journal.{number} into a draft, adds to the history, and syncs both"

    def announce(self, state: State, number: int) -> None:
        state.checkpoint = max(state.checkpoint, number)
        if state.doubt <= number:
            state.doubt = 0

    def begin_to_finish(self, state: State, me: str, then: str) -> str:
        """Goes on to remove the journal that a checkpoint has replaced, if it is there, and then to another step."""
        number = CONTENTS[state.folder.cell(state.folder.names[VALUES], 0)][1]
        if number - 1 in state.names and state.names[number - 1][0]:
            state.go(me, "remains" if self.has("unlink") else "unlink", number - 1, then)
            return f"; journal.{number - 1} is left"
        self.go_on(state, me, then)
        return ""

    def go_on(self, state: State, me: str, then: str) -> None:
        if then:
            state.go(me, then)
        else:
            state.end(me)

    def finish(self, state: State, me: str) -> str:
        step, number, then = state.actors[me]
        if step == "remains":
            state.sync_names()
            state.go(me, "unlink", number, then)
            return "syncs the folder"
        state.name(number, 0)
        self.go_on(state, me, then)
        return f"removes journal.{number}"

    def opener(self, state: State, me: str, fails: bool) -> str | None:
        step, *local = state.actors[me]
        if step == "begin":
            if self.has("opened"):
                return "begins" + self.begin_to_finish(state, me, "set up")
            state.go(me, "set up")
            return "begins"
        if step in ("remains", "unlink"):
            return self.finish(state, me)
        folder = state.folder
        has_open = self.open(folder)
        if not has_open:
            return None
        chain, (_, number, position, *_) = self.follow(folder, *has_open, None), CONTENTS[has_open[0]]
        if state.synced < 0:
            # There is no pulse.
            state.synced = position
            state.doubt = chain.number + 1 if self.has("missing") and chain.position > position else 0
        elif state.doubt <= number or not self.has("believe"):
            state.doubt = 0
        state.synced = min(max(state.synced, position), chain.position) if self.has("synced") else chain.position
        state.published, state.commits, state.checkpoint = chain.position, chain.commits, number
        state.actors = {"W3": ("sync", None, 1), "C3": ("begin",)}
        return f"sets the pulse up, with {chain.commits}"

    # ---- Reading only

    def only_reader(self, state: State, me: str, fails: bool) -> str | None:
        step, least, *local = state.actors[me]
        folder = state.folder
        if step == "begin":
            least = len(state.commits) if least is None else least
            state.go(me, "journal", least, folder.cell(folder.names[VALUES], 0))
            return "opens the checkpoint"
        values = local[0]
        is_replaced = values != folder.cell(folder.names[VALUES], 0)

        def again(what: str) -> str:
            if not is_replaced:
                raise Found("the store seems damaged", f"R {what}")
            state.go(me, "begin", least)
            return f"{what}, and begins again"

        if step == "journal":
            file = folder.names.get(CONTENTS[values][1], 0)
            if folder.journal(file) is None:
                return again("finds no journal")
            state.go(me, "published", least, values, file)
            return "opens its journal"
        if step == "published":
            state.go(me, "frames", least, *local, state.published if self.has("bound") else None)
            return f"loads {state.published}"
        file, end = local[1:]
        chain = self.follow(folder, values, file, end)
        if end is not None and chain.position < max(end, CONTENTS[values][2]):
            return again("cannot read up to it")
        if len(chain.commits) < least or chain.commits != state.commits[: len(chain.commits)]:
            raise Found(f"{state.commits} is published", f"R reads {chain.commits}")
        state.end(me)
        return f"reads {chain.commits}"

    # ---- All steps, and what must hold

    def steps(self, frozen: Content) -> Iterator[tuple[str, Content]]:
        programs = {"W": self.writer, "C": self.maker, "O": self.opener, "R": self.only_reader}
        for me, (step, *_) in frozen[2]:
            for fails in (False, True):
                state = State(frozen)
                if fails and not (state.failures and me[0] == "W" and step in ("begin", "file")):
                    continue
                if label := programs[me[0]](state, me, fails):
                    yield f"{me} {label}", state.frozen(is_on_disk=self.reader)
            state = State(frozen)
            if state.kills > 0 and step != "begin" and me[0] in "WC":
                state.kills -= 1
                state.end(me)
                yield f"{me} is killed", state.frozen()
        if State(frozen).kills < 0 or self.reader:
            return
        for is_missing in (False, True):
            state = State(frozen)
            # In the life that follows, nothing more goes wrong until the power is lost.
            state.kills, state.failures = -1, 0
            state.owner = state.maker = ""
            state.actors = {"O": ("begin",)}
            if is_missing:
                # Without a doubt, it makes the next process only more careful.
                if not state.doubt:
                    continue
                state.synced = -1
            yield "all are killed" + (", and the pulse is removed" if is_missing else ""), state.frozen()

    def faults(self, frozen: Content) -> list[str]:
        if self.reader:
            return []
        state = State(frozen)
        key = (*frozen[:2], state.commits, state.durable, state.failed, state.published, state.synced)
        if key not in self.judged:
            self.judged[key] = list(itertools.islice(self.judge(state), 1))
        return self.judged[key]

    def judge(self, state: State) -> Iterator[str]:
        if wrong := self.wrong(state, state.folder, state.published, len(state.commits)):
            yield f"all are killed: {wrong}"
        least = state.synced if self.has("boot") else state.published
        for names in _choices(state.names):
            names = {name: file for name, file in names.items() if file}
            cells = {(f, p): cell for f in {*names.values(), HISTORY} for p, cell in enumerate(state.files[f])}
            for contents in _choices(cells):
                files: dict[int, list[int]] = {}
                for (file, _), content in contents.items():
                    files.setdefault(file, []).append(content)
                if wrong := self.wrong(state, Folder(names, files), least, state.durable):
                    yield f"the power is lost: {wrong}"

    def wrong(self, state: State, folder: Folder, least: int, commits: int) -> str | None:
        """What is wrong with a folder that a process opens alone."""
        if not (has_open := self.open(folder)):
            return "the checkpoint or its journal is missing"
        chain = self.follow(folder, *has_open, None)
        if chain.position < least:
            return f"the frames end at {chain.position}, before {least}"
        pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(chain.commits, state.commits))
        if (shared := len(list(pairs))) < commits:
            return f"{chain.commits} instead of {state.commits}, of which {commits} must be there"
        more = chain.commits[shared:]
        unknown = [group for group in COMMITS.values() if not {*group} & {*state.commits, *state.failed}]
        if more and not any(more == tuple(map(self.text, group[: len(more)])) for group in unknown):
            return f"{chain.commits} although only {state.commits} was published"
        _, _, _, _, known, length = CONTENTS[has_open[0]]
        past = [number_of("past", commit) for commit in known]
        if [folder.cell(HISTORY, place) for place in range(length)] != past:
            return f"the history is not that of {known}"
        return None


def _choices(cells: dict[Any, Cell]) -> Iterator[dict[Any, int]]:
    for chosen in itertools.product(*(sorted(possible - {LOST}) for _, possible in cells.values())):
        yield dict(zip(cells, chosen))
