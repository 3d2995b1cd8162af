"""Steps about the life of a store: copies of it, the way back, and migrations."""

from __future__ import annotations

from typing import Any

import kept
from kept._errors import class_of_status

Step = dict[str, Any]


def backup(scenario_runner: Any, store: kept.Store, step: Step, _: Any) -> int:
    slash = "/" if step.pop("folder", False) else ""
    path, replace = f"{scenario_runner.folder / step.pop('file')}{slash}", step.pop("replace", False)
    return store.backup(path, replace=replace)


def restore(scenario_runner: Any, store: kept.Store, step: Step, _: Any) -> bool:
    return store.restore(scenario_runner.folder / step.pop("file")) is not None


def salvaged(_: Any, store: kept.Store, __: Step, ___: Any) -> None:
    if store.salvaged is None:
        raise kept.AbsentError("nothing was salvaged")


def schema_version(_: Any, store: kept.Store, __: Step, ___: Any) -> int:
    return store.schema_version


def undo(_: Any, store: kept.Store, step: Step, __: Any) -> list[str]:
    return store.undo(step.pop("revision"))


def rename(_: Any, settings: kept.Settings, step: Step, __: Any) -> None:
    key, to = step.pop("key"), step.pop("to")
    if not settings.rename(key, to):
        raise kept.AbsentError(f"{key} was not there")


def migrate(scenario_runner: Any, store: kept.Store, step: Step, _: Any) -> str:
    others, later, says = step.pop("others", "wait"), step.pop("later", "refuse"), step.pop("says", "")
    steps = [migration(scenario_runner, description) for description in step.pop("migrations")]
    try:
        return store.migrate(steps, others=others, later=later).outcome
    except kept.KeptError as error:
        assert says in str(error)
        if error.__cause__ is not None and not isinstance(error.__cause__, kept.KeptError):
            raise error.__cause__  # noqa: B904
        raise


def migration(scenario_runner: Any, description: Step) -> kept.Migration:
    """Its steps are steps of the scenario, on the transaction that it is given."""

    def run(transaction: kept.Transaction) -> None:
        scenario_runner.things["transaction"] = transaction
        for step in description["steps"]:
            scenario_runner.run(step)
        if name := description.get("fails"):
            classes = {error.__name__: error for error in class_of_status.values()}
            raise classes[name.title().replace(" ", "") + "Error"]("the scenario lets it fail")

    return kept.Migration(description["version"], description["name"], run)


STEPS = {
    "backup": backup,
    "restore": restore,
    "salvaged": salvaged,
    "acknowledge_salvage": lambda _, store, __, ___: store.acknowledge_salvage(),
    "schema_version": schema_version,
    "rename": rename,
    "migrate": migrate,
    "undo": undo,
}
