"""Steps about values, keys, declarations and layers: one call each."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from ctypes import byref, c_char_p, c_int64, c_uint64
from typing import Any

import kept
from kept._c.declarations import kept_declaration_json, kept_declarations_json, kept_declare_json, kept_declare_list
from kept._c.json import kept_get_json, kept_set_json, kept_set_json_if
from kept._c.keys import kept_revision_of
from kept._c.layers import kept_explain_json, kept_register_json
from kept._c.status import kept_error, kept_free
from kept._c.values import kept_get_int64, kept_get_uint64, kept_set_date, kept_set_int64, kept_set_uint64
from kept._key import encoded_name
from scenario_text import Step, name_of_layer, text, word

Function = Callable[[Any, Any, Step, Any], Any]


def through_key(kind: type, convert: Callable[[Any], Any] = lambda value: value) -> Function:
    """Reads a key of a type."""

    def get(_: Any, settings: kept.Settings, step: Step, __: Any) -> Any:
        name = word(step.pop("key"))
        # The type spelled out, so that an absent key is an error and not a default.
        return convert(settings[kept.Key(name, kind)])

    return get


def setting_key(kind: type, convert: Callable[[Any], Any] = lambda value: value) -> Function:
    """Writes a key of a type."""

    def put(_: Any, settings: kept.Settings, step: Step, __: Any) -> None:
        name, value = word(step.pop("key")), convert(step.pop("value"))
        settings[kept.Key(name, kind)] = value

    return put


def through_c(function: Any, kind: Any) -> Function:
    """Calls a function of `_c` that reads one number."""

    def get(_: Any, settings: kept.Settings, step: Step, __: Any) -> Any:
        name, result = encoded_name(word(step.pop("key"))), kind()
        function(settings._handle, name, byref(result), kept_error())
        return result.value

    return get


def setting_c(function: Any) -> Function:
    """Calls a function of `_c` that writes one number."""

    def put(_: Any, settings: kept.Settings, step: Step, __: Any) -> None:
        key, value = word(step.pop("key")), step.pop("value")
        function(settings._handle, encoded_name(key), value, kept_error())

    return put


def json_text(function: Any, subject: str) -> Callable[[Any, Any, Step, Any], bytes]:
    """Calls a function of `_c` that gives text about a key or a prefix."""

    def get(_: Any, settings: kept.Settings, step: Step, __: Any) -> bytes:
        about = word(step.pop(subject))
        name, result = encoded_name(about) if subject == "key" else about.encode(), c_char_p()
        function(settings._handle, name, byref(result), kept_error())
        try:
            return result.value or b""
        finally:
            kept_free(result)

    return get


def explain(scenario_runner: Any, settings: kept.Settings, step: Step, expected: Any) -> Any:
    return json.loads(json_text(kept_explain_json, "key")(scenario_runner, settings, step, expected))


def layer_of(_: Any, settings: kept.Settings, step: Step, __: Any) -> str:
    return name_of_layer(settings.layer(word(step.pop("key"))))


def location_of(runner: Any, step: Step) -> str:
    """The field "location" or "at"; the location of the scenario's store if the step has neither."""
    if "at" in step:
        return str(runner.folder / step.pop("at"))
    return word(step.pop("location")) if "location" in step else str(runner.location)


def members_of(place: kept.Place) -> Step:
    files = list(map(members_of_file, place.layer_files))
    return dataclasses.asdict(place) | {"identifier": place.is_identifier, "layerFiles": files}


def members_of_file(file: kept.LayerFile) -> Step:
    return dataclasses.asdict(file) | {"layer": name_of_layer(file.layer)}


def place(runner: Any, _: Any, step: Step, __: Any) -> Step:
    return members_of(kept.place(location_of(runner, step)))


def places(runner: Any, _: Any, step: Step, __: Any) -> list[Step]:
    return [members_of(each) for each in kept.places(location_of(runner, step))]


def processes(runner: Any, _: Any, step: Step, __: Any) -> list[Step]:
    return [dataclasses.asdict(each) for each in kept.processes(location_of(runner, step))]


def findings(runner: Any, _: Any, step: Step, __: Any) -> list[Step]:
    """Without notes, which depend on the machine."""
    files = {layer: runner.folder / step.pop(layer) for layer in ("managed", "system") if layer in step}
    found = kept.findings(location_of(runner, step), **files)
    return [dataclasses.asdict(each) for each in found if each.severity != "note"]


def layer_files(_: Any, store: kept.Store, __: Step, ___: Any) -> list[Step]:
    if not isinstance(store, kept.Store):
        raise kept.UnsupportedError("a transaction has no such method")
    return list(map(members_of_file, store.layer_files()))


def layer_check(_: Any, __: Any, step: Step, ___: Any) -> None:
    kept.check_layer(text(step.pop("text")), kept.Layer[step.pop("layer").upper()])


def text_to_json(_: Any, __: Any, step: Step, ___: Any) -> bytes:
    value = kept.value_of_text(word(step.pop("text")), step.pop("type", None))
    return kept.text_of_value(value).encode()


def json_to_text(_: Any, __: Any, step: Step, ___: Any) -> bytes:
    value = kept.value_of_text(word(step.pop("json")))
    return kept.text_of_value(value, step.pop("type", None)).encode()


def declare_json(_: Any, settings: kept.Settings, step: Step, __: Any) -> None:
    key, schema = word(step.pop("key")), text(step.pop("schema"))
    kept_declare_json(settings._handle, encoded_name(key), schema, kept_error())


def declare_list(_: Any, settings: kept.Settings, step: Step, __: Any) -> None:
    kept_declare_list(settings._handle, text(step.pop("schema")), kept_error())


def undeclare(_: Any, settings: kept.Settings, step: Step, __: Any) -> None:
    settings.undeclare(word(step.pop("key")))


def register_json(_: Any, settings: kept.Settings, step: Step, __: Any) -> None:
    kept_register_json(settings._handle, text(step.pop("json")), kept_error())
    if isinstance(settings, kept.Store):
        settings._find_layers()


def set_json(_: Any, settings: kept.Settings, step: Step, __: Any) -> None:
    key, value = word(step.pop("key")), text(step.pop("json"))
    kept_set_json(settings._handle, encoded_name(key), value, kept_error())


def set_json_if(_: Any, settings: kept.Settings, step: Step, __: Any) -> int:
    key, value, expected = word(step.pop("key")), text(step.pop("json")), step.pop("expected")
    revision = c_uint64()
    kept_set_json_if(settings._handle, encoded_name(key), value, expected, byref(revision), kept_error())
    return revision.value


def seconds_and_nanoseconds(stamp: kept.Timestamp) -> dict[str, int]:
    return {"seconds": stamp.seconds, "nanoseconds": stamp.nanoseconds}


def set_date(_: Any, settings: kept.Settings, step: Step, __: Any) -> None:
    key, value = word(step.pop("key")), step.pop("value")
    kept_set_date(settings._handle, encoded_name(key), value["seconds"], value["nanoseconds"], kept_error())


def contains(_: Any, settings: kept.Settings, step: Step, __: Any) -> bool:
    key = word(step.pop("key"))
    return key in settings


def remove(_: Any, settings: kept.Settings, step: Step, __: Any) -> None:
    key = word(step.pop("key"))
    del settings[key]


def list_keys(_: Any, settings: kept.Settings, step: Step, __: Any) -> list[str]:
    prefix = word(step.pop("prefix"))
    return list(settings.keys(prefix))


def history(_: Any, store: kept.Store, step: Step, __: Any) -> Step:
    past = store.history(prefix=word(step.pop("prefix"))) if "prefix" in step else store.history(word(step.pop("key")))
    changes = [
        {
            name: value
            for name, value in (
                ("key", change.key),
                ("revision", change.revision),
                ("tag", change.tag),
                ("old", change.old),
                ("new", change.new),
                ("secret", change.secret or None),
                ("notKept", list(change.not_kept) or None),
            )
            if value is not None
        }
        for change in past.changes
    ]
    missing = [[part[0], part[-1]] for part in past.missing]
    return {"changes": changes, "completeAfter": past.complete_after} | ({"missing": missing} if missing else {})


def snapshot(scenario_runner: Any, store: kept.Store, step: Step, _: Any) -> None:
    name, prefix = step.pop("as", "snapshot"), word(step.pop("prefix", ""))
    if not isinstance(store, kept.Store):
        raise kept.UnsupportedError("mypy refuses it, and a transaction has no such method")
    scenario_runner.things[name] = store.snapshot(prefix, at=step.pop("at", None))


def reset(_: Any, settings: kept.Settings, step: Step, __: Any) -> None:
    settings.reset(word(step.pop("key")))


def remove_all(_: Any, settings: kept.Settings, step: Step, __: Any) -> int:
    return settings.remove_all(word(step.pop("prefix")))


STEPS: dict[str, Function] = {
    "get_json": json_text(kept_get_json, "key"),
    "set_json": set_json,
    "set_json_if": set_json_if,
    "get_bool": through_key(bool),
    "set_bool": setting_key(bool),
    "get_int64": through_c(kept_get_int64, c_int64),
    "set_int64": setting_c(kept_set_int64),
    "get_uint64": through_c(kept_get_uint64, c_uint64),
    "set_uint64": setting_c(kept_set_uint64),
    "get_double": through_key(float),
    "set_double": setting_key(float, float),
    "get_string": through_key(str, str.encode),
    "set_string": setting_key(str, word),
    "get_bytes": through_key(bytes),
    "set_bytes": setting_key(bytes, text),
    "get_date": through_key(kept.Timestamp, seconds_and_nanoseconds),
    "set_date": set_date,
    "contains": contains,
    "remove": remove,
    "revision_of": through_c(kept_revision_of, c_uint64),
    "list": list_keys,
    "snapshot": snapshot,
    "history_json": history,
    "reset": reset,
    "remove_all": remove_all,
    "declare_json": declare_json,
    "declare_list": declare_list,
    "undeclare": undeclare,
    "declaration_json": json_text(kept_declaration_json, "key"),
    "declarations_json": json_text(kept_declarations_json, "prefix"),
    "explain_json": explain,
    "layer_of": layer_of,
    "place_json": place,
    "findings_json": findings,
    "places_json": places,
    "processes_json": processes,
    "layer_files_json": layer_files,
    "layer_check": layer_check,
    "text_to_json": text_to_json,
    "json_to_text": json_to_text,
    "register_json": register_json,
}
