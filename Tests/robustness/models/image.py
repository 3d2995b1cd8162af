"""Readers, while another thread of their process changes the index, and goes to newer checkpoints: every interleaving.

Other processes commit: the key x has the value 0, then 1, then none, and y has 7 all the time; checkpoint 2 has the
first commit, and checkpoint 3 the second. In each checkpoint the table and the records lie elsewhere. The process has
an index, the keys that have changed since its checkpoint, and an image, the blocks of the checkpoint that were read. A
value has two halves, which are read one after the other.

The programs: U catches up, and goes to the newer checkpoint, with a lock that readers do not take. R reads without a
lock. S reads inside the gate, and reads blocks from the file into the image. E are the other processes.

What must hold of each value that is returned: it was the value at some time between the start and the end of the read.
No reader touches memory that does not exist. The caller's buffer is written only if the read returns a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from explore import Found

# With the numbers that the design gives them, and their file in Sources.
RULES = {
    "gate": "(13) a change of the index waits until no reader is inside (KeptCore/Storage/ReadersGate)",
    "kept": "(13) an image is reused, and never unmapped (KeptEngine/Values/Image)",
    "mark": "(13) a block has the mark of one use of the image (CPlatform/Image.h)",
    "filled": "(13) a block is marked after it was filled (KeptEngine/Values/Image)",
    "capacity": "(13) a place is checked against the capacity of the image, which is constant (CPlatform/Image.h)",
    "sequence": "(14) readers compare the sequence number, which is odd during a change (CPlatform/Seqlock.h)",
    "together": "(14) index and image change at once (KeptCore/Storage/Local/LocalIndex)",
    "current": "(14) the index is read only for the generation at which it is current (CPlatform/Seqlock.h)",
    "aside": "(15) nothing is written to the caller before the sequence was compared (CPlatform/Seqlock.h)",
}

Frozen = tuple[Any, ...]
Block = tuple[Any, ...]

X = (0, 1, None)  # after 0, 1 and 2 commits
COVERED = {1: 0, 2: 1, 3: 2}  # how many commits a checkpoint has
# A block has the places of records, or a record: its key and the two halves of its value.
BLOCKS: dict[int, tuple[Block, ...]] = {
    1: (("table", {"x": 2, "y": 1}, "?"), ("y", 7, 7), ("x", 0, 0)),
    2: (("y", 7, 7), ("z", 9, 9), ("table", {"x": 3, "y": 0}, "?"), ("x", 1, 1)),
    3: (("z", 9, 9), ("table", {"y": 2, "z": 0}, "?"), ("y", 7, 7)),
}
TABLE = {1: 0, 2: 2, 3: 1}
CAPACITY = {"A": 3, "B": 4}


class Image(NamedTuple):
    # For each block, the checkpoint that was written into it last, and how many halves of it.
    blocks: tuple[tuple[int, int], ...]
    marks: tuple[int, ...]
    use: int
    table: int
    is_mapped: bool = True


class State(NamedTuple):
    # Of all processes: the number of commits, and the newest checkpoint.
    published: int = 0
    newest: int = 1
    # Of this one: the sequence number, the generation for which the index is current, the value that it has for x,
    # and the checkpoint beneath it with its image.
    sequence: int = 0
    open: int | None = 0
    changed: tuple[int | None, ...] = ()
    checkpoint: int = 1
    current: str = "A"
    images: tuple[Image, Image] = (
        Image(((1, 2), (1, 2), (0, 0)), (1, 1, 0), 1, TABLE[1]),
        Image(((0, 0),) * 4, (0,) * 4, 0, 0),
    )
    # The steps that U has still to make, and where the readers are.
    todo: Frozen = ()
    r: Frozen | None = ("begin",)
    s: Frozen | None = ("begin",)

    def image(self, name: str) -> Image:
        return self.images[name == "B"]

    def with_image(self, name: str, **parts: Any) -> State:
        images = list(self.images)
        images[name == "B"] = images[name == "B"]._replace(**parts)
        return self._replace(images=(images[0], images[1]))


class Model:
    """The programs without one of the rules, or with all."""

    initial = State()

    def __init__(self, without: str = "") -> None:
        self.without = without
        self.adding = ["first", "second", "mark"] if self.has("filled") else ["mark", "first", "second"]

    def has(self, rule: str) -> bool:
        return rule != self.without

    # ---- U

    def plan(self, state: State) -> Iterator[tuple[str, Frozen]]:
        """What U may begin now."""

        def closed(generation: int, *changes: Frozen) -> Frozen:
            return ("close",), ("odd",), *changes, ("open", generation)

        def index(checkpoint: int, generation: int) -> Frozen:
            return "index", (X[generation],) if generation > COVERED[checkpoint] else ()

        if state.open != state.published:
            yield "catches up", closed(state.published, index(state.checkpoint, state.published))
        if (newest := state.newest) > state.checkpoint:
            other, generation = "AB"[state.current == "A"], max(state.open or 0, COVERED[newest])
            changes = [("image", other, newest), index(newest, generation)]
            turns = [changes] if self.has("together") else [[change] for change in reversed(changes)]
            steps = [step for turn in turns for step in closed(generation, *turn)]
            yield (
                f"goes to checkpoint {newest}",
                (("take", other), ("load", other, newest), *steps, ("put", state.current)),
            )

    def update(self, state: State) -> tuple[str, State] | None:
        (step, *local), *todo = state.todo
        state = state._replace(todo=tuple(todo))
        if step == "close":
            return "closes the gate", state._replace(open=None)
        if step == "odd":
            if self.has("gate") and state.s and state.s[0] != "begin":
                return None
            return "finds no reader inside, and makes the sequence odd", state._replace(sequence=state.sequence + 1)
        if step == "open":
            state = state._replace(sequence=state.sequence + 1, open=local[0])
            return f"makes the sequence even, and opens the gate for {local[0]}", state
        if step == "index":
            return f"changes the index: {local[0]}", state._replace(changed=local[0])
        name = local[0]
        if step == "image":
            return f"makes image {name} current", state._replace(current=name, checkpoint=local[1])
        if step == "take":
            use = 1 + max(image.use for image in state.images)
            return f"takes image {name}", state.with_image(name, use=use, is_mapped=True)
        if step == "load":
            # All but the last one, which S reads when it needs it.
            count = len(BLOCKS[local[1]]) - 1
            image = state.image(name)
            blocks = ((local[1], 2),) * count + image.blocks[count:]
            marks = (image.use,) * count + image.marks[count:]
            state = state.with_image(name, table=TABLE[local[1]], blocks=blocks, marks=marks)
            return f"reads {count} blocks into it", state
        # The system may fail to empty it.
        return f"no longer uses image {name}", state.with_image(name, is_mapped=self.has("kept"))

    # ---- Reading a block

    def block(self, state: State, name: str, number: int, use: int | None) -> Block | None:
        """The block of an image; None if it was not read."""
        image = state.image(name)
        if number >= (CAPACITY[name] if self.has("capacity") else 9):
            return None
        if number >= CAPACITY[name] or not image.is_mapped:
            raise Found("the memory does not exist", f"a reader looks at block {number} of image {name}")
        # A reader looks at the mark once, and then at the bytes.
        if use is not None and (image.marks[number] != use if self.has("mark") else image.marks[number] == 0):
            return None
        checkpoint, halves = image.blocks[number]
        block = BLOCKS[checkpoint][number] if checkpoint else ("nothing", 0, 0)
        return block if halves == 2 or block[0] == "table" else (*block[:2], "?")

    @staticmethod
    def place(block: Block, key: str) -> int | None:
        # A record that is taken for a table may lead anywhere.
        return block[1].get(key) if block[0] == "table" else 3

    def returns(self, state: State, key: str, began: int, value: Any, is_written: bool = False) -> str:
        allowed = X[began : state.published + 1] if key == "x" else (7,)
        if value == "slow":
            # The path with locks is right, and may find no value.
            if is_written and None in allowed:
                raise Found("the caller's buffer was written", f"a reader finds no value of {key} in the end")
            return f"reads {key} on the path with locks"
        if value not in allowed:
            raise Found(f"{key} was one of {allowed}", f"a reader returns {value} for {key}")
        return f"returns {value} for {key}"

    # ---- R

    def read(self, state: State) -> Iterator[tuple[str, State]]:
        assert state.r
        step, *local = state.r

        def go(label: str, *step: Any) -> tuple[str, State]:
            return label, state._replace(r=step)

        def end(value: Any, is_written: bool = False) -> tuple[str, State]:
            return self.returns(state, key, began, value, is_written), state._replace(r=None)

        if step == "begin":
            for key in "xy":
                yield go(f"loads the generation {state.published}", "sequence", key, state.published)
            return
        key, began, *local = local
        if step == "sequence":
            yield end("slow") if state.sequence % 2 else go("loads the sequence", "open", key, began, state.sequence)
            return
        sequence, *local = local
        known = (key, began, sequence)
        if step == "open":
            is_current = state.open == began or not self.has("current")
            yield go("finds the index current", "index", *known) if is_current else end("slow")
        elif step == "index":
            if key == "x" and state.changed:
                yield go("finds the key in the index", "compare", *known, state.changed[0], False)
            else:
                yield go("finds nothing in the index", "image", *known)
        elif step == "image":
            yield go(f"loads the address of image {state.current}", "use", *known, state.current)
        elif step == "use":
            yield go("loads its use", "table", *known, *local, state.image(local[0]).use)
        elif step == "table":
            yield go("loads where the table is", "place", *known, *local, state.image(local[0]).table)
        elif step == "place":
            name, use, table = local
            if block := self.block(state, name, table, use):
                if (place := self.place(block, key)) is None:
                    yield go("finds no place", "compare", *known, None, False)
                else:
                    yield go(f"finds place {place}", "key", *known, name, use, place)
            else:
                yield end("slow")
        elif step == "compare":
            value, is_written = local
            yield end(value if state.sequence == sequence or not self.has("sequence") else "slow", is_written)
        else:
            name, use, place, *halves = local
            block = self.block(state, name, place, use if step == "key" else None)
            if not block:
                yield end("slow", bool(halves) and not self.has("aside"))
            elif step == "key":
                if block[0] == key:
                    yield go("finds the key", "first", *known, name, use, place)
                else:
                    yield go("finds another key", "compare", *known, None, False)
            elif step == "first":
                yield go("reads the first half", "second", *known, name, use, place, str(block[1]))
            else:
                value = block[2] if halves == [str(block[2])] else f"{halves[0]} and {block[2]}"
                yield go("reads the second half", "compare", *known, value, not self.has("aside"))

    # ---- S

    def enter(self, state: State) -> Iterator[tuple[str, State]]:
        assert state.s
        step, *local = state.s

        def go(label: str, *step: Any) -> tuple[str, State]:
            return label, state._replace(s=step)

        def end(value: Any) -> tuple[str, State]:
            return self.returns(state, key, began, value) + ", and leaves", state._replace(s=None)

        if step == "begin":
            for key in "xy":
                began = state.published
                if state.open != began:
                    yield end("slow")
                elif key == "x" and state.changed:
                    yield end(state.changed[0])
                # Of its own checkpoint, also without the gate.
                elif (place := self.place(BLOCKS[state.checkpoint][TABLE[state.checkpoint]], key)) is None:
                    yield end(None)
                elif self.block(state, state.current, place, state.image(state.current).use):
                    yield go("passes the gate, and finds the block", "value", key, began, state.current, place)
                else:
                    known = (key, began, state.checkpoint, state.current, place)
                    yield go(f"passes the gate, and reads block {place} from the file", self.adding[0], *known)
            return
        key, began, *local = local
        if step in self.adding:
            checkpoint, name, place = local
            image = state.image(name)
            if step == "mark":
                label, marks = "marks it", (*image.marks[:place], image.use, *image.marks[place + 1 :])
                state = state.with_image(name, marks=marks)
            else:
                label, filled = f"has the {step} half of it in memory", (checkpoint, 1 if step == "first" else 2)
                state = state.with_image(name, blocks=(*image.blocks[:place], filled, *image.blocks[place + 1 :]))
            rest = self.adding[self.adding.index(step) + 1 :]
            yield go(label, rest[0], key, began, *local) if rest else go(label, "value", key, began, name, place)
        else:
            name, place = local
            block = self.block(state, name, place, state.image(name).use)
            yield end("slow" if not block else block[2] if block[0] == key and block[1] == block[2] else "?")

    # ---- All steps

    def steps(self, state: State) -> Iterator[tuple[str, State]]:
        if state.published < 2 and state.newest > state.published:
            yield "E commits", state._replace(published=state.published + 1)
        if state.newest < 3 and COVERED[state.newest + 1] <= state.published:
            yield f"E makes checkpoint {state.newest + 1}", state._replace(newest=state.newest + 1)
        if state.todo:
            if found := self.update(state):
                yield f"U {found[0]}", found[1]
        else:
            for label, todo in self.plan(state):
                yield f"U {label}", state._replace(todo=todo)
        for name, program in [("R", self.read), ("S", self.enter)]:
            if getattr(state, name.lower()):
                for label, after in program(state):
                    yield f"{name} {label}", after
