"""The low level declares exactly what kept.h declares: names, types, structs, numbers, sections; both ways."""

from __future__ import annotations

import ctypes
import importlib
import pkgutil
import re
from types import ModuleType
from typing import Any

import pytest

import kept._c
from kept import _errors
from places import ROOT

HEADER = (ROOT / "include/kept.h").read_text("utf-8")


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def sections() -> dict[str, str]:
    """The header's sections by the names of their modules: "Prepared keys" is prepared_keys."""
    parts = re.split(r"/\* -{20,}\n \* ([\w ]+): ", HEADER)
    return {name.lower().replace(" ", "_"): "/*" + text for name, text in zip(parts[1::2], parts[2::2])}


SECTIONS = sections()
CODE = {name: without_comments(text) for name, text in SECTIONS.items()}


def module_of(section: str) -> ModuleType:
    return importlib.import_module(f"kept._c.{section}")


def flat(text: str) -> str:
    return " ".join(text.split())


def prototypes(section: str) -> dict[str, str]:
    """Each function of a section with its declaration on one line."""
    found = [flat(match) for match in re.findall(r"KEPT_API\s+(.*?;)", CODE[section], re.DOTALL)]
    return {re.search(r"(kept_\w+)\(", text)[1]: text for text in found}  # type: ignore[index]


ALL = {name: (section, text) for section in SECTIONS for name, text in prototypes(section).items()}
C = {name: getattr(module_of(section), name) for name, (section, _) in ALL.items()}

store_p = ctypes.POINTER(module_of("store").kept_store)
key_p = ctypes.POINTER(module_of("prepared_keys").kept_key)
notice_p = ctypes.POINTER(module_of("observation").kept_notice)
subscription_p = ctypes.POINTER(module_of("observation").kept_subscription)

TYPES: dict[str, Any] = {
    "void": None,
    "bool": ctypes.c_bool,
    "int": ctypes.c_int,
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
    "double": ctypes.c_double,
    "kept_status": ctypes.c_int32,
    "void *": ctypes.c_void_p,
    "void **": ctypes.POINTER(ctypes.c_void_p),
    "char *": ctypes.c_char_p,
    "char **": ctypes.POINTER(ctypes.c_char_p),
    "bool *": ctypes.POINTER(ctypes.c_bool),
    "int *": ctypes.POINTER(ctypes.c_int),
    "int32_t *": ctypes.POINTER(ctypes.c_int32),
    "int64_t *": ctypes.POINTER(ctypes.c_int64),
    "uint32_t *": ctypes.POINTER(ctypes.c_uint32),
    "uint64_t *": ctypes.POINTER(ctypes.c_uint64),
    "size_t *": ctypes.POINTER(ctypes.c_size_t),
    "double *": ctypes.POINTER(ctypes.c_double),
    "kept_store *": store_p,
    "kept_store **": ctypes.POINTER(store_p),
    "kept_error *": ctypes.POINTER(module_of("status").kept_error),
    "kept_options *": ctypes.POINTER(module_of("store").kept_options),
    "kept_transaction_options *": ctypes.POINTER(module_of("transactions").kept_transaction_options),
    "kept_key *": key_p,
    "kept_key **": ctypes.POINTER(key_p),
    "kept_transfer_options *": ctypes.POINTER(module_of("export_and_import").kept_transfer_options),
    "kept_notice *": notice_p,
    "kept_notice **": ctypes.POINTER(notice_p),
    "kept_migration *": ctypes.POINTER(module_of("migrations").kept_migration),
    "kept_value *": ctypes.POINTER(module_of("notices").kept_value),
    "kept_subscription *": subscription_p,
    "kept_subscription **": ctypes.POINTER(subscription_p),
    "kept_list_callback": module_of("keys").kept_list_callback,
    "kept_notice_callback": module_of("observation").kept_notice_callback,
    "kept_migration_callback": module_of("migrations").kept_migration_callback,
    "kept_report_callback": module_of("store").kept_report_callback,
    "kept_progress_callback": module_of("export_and_import").kept_progress_callback,
    "void (*)(void *context)": module_of("observation").kept_release,
}


def type_of(declaration: str) -> Any:
    """The ctypes type of `const char *key` and the like."""
    text = re.sub(r"\bconst\b\s*", "", declaration).strip()
    text = re.sub(r"\(\*\w+\)", "(*)", text) if "(*" in text else re.sub(r"\w+$", "", text).strip()
    return TYPES[text]


def parameters(text: str) -> list[str]:
    inner = text[text.index("(") + 1 : text.rindex(")")]
    return [] if inner == "void" else re.split(r",\s*(?![^()]*\))", inner)


def test_the_header_was_understood() -> None:
    assert len(ALL) == HEADER.count("\nKEPT_API ") > 30
    assert sum(len(prototypes(section)) for section in SECTIONS) == len(ALL)


def test_each_section_has_its_module_and_no_module_is_without_a_section() -> None:
    modules = {module.name for module in pkgutil.iter_modules(kept._c.__path__)} - {"library"}
    assert modules == set(SECTIONS)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_module_opens_with_its_section_s_title(section: str) -> None:
    title = flat(SECTIONS[section].split("\n", 1)[0].removeprefix("/*"))
    found = (module_of(section).__doc__ or "").replace(";", ".").rstrip(".").lower()
    assert found.startswith(f"{section.replace('_', ' ')}: ")
    assert found.split(": ", 1)[1].split(".")[0] == title.split(".")[0].lower()


@pytest.mark.parametrize("name", ALL)
def test_a_prototype_has_the_header_s_types(name: str) -> None:
    text, function = ALL[name][1], C[name]
    assert function.restype is type_of(text[: text.index(name)] + "it")
    assert function.argtypes == [type_of(parameter) for parameter in parameters(text)]


WITHOUT_KEY = (
    *("kept_declare_list", "kept_declare_file", "kept_register_json"),
    *("kept_export_file", "kept_import", "kept_import_file", "kept_backup", "kept_restore"),
    *("kept_verify_json", "kept_set_history_limits", "kept_json_to_text", "kept_differences_json", "kept_secrets_json"),
)


@pytest.mark.parametrize("name", ALL)
def test_a_function_that_returns_a_status_is_checked_and_takes_its_error_last(name: str) -> None:
    text, function = ALL[name][1], C[name]
    fails = text.startswith("kept_status")
    status = module_of("status")
    # A second argument is a key, but for these.
    check = status.check_without_key if name in WITHOUT_KEY else status.check
    without_status = status.check_interrupt if name == "kept_close" else None
    assert getattr(function, "errcheck", None) is (check if fails else without_status)
    assert not fails or parameters(text)[-1] == "kept_error *error"


@pytest.mark.parametrize("section", SECTIONS)
def test_the_c_line_stands_above_each_prototype(section: str) -> None:
    source = (ROOT / f"bindings/python/src/kept/_c/{section}.py").read_text("utf-8")
    declared = re.findall(r"((?:^# .*\n)+)^(kept_\w+) = prototype\(\s*\"(\w+)\"", source, re.MULTILINE)
    lines = {name: flat(comment.replace("#", "")) for comment, name, _ in declared}
    assert all(name == exported for _, name, exported in declared)
    assert lines == prototypes(section)


@pytest.mark.parametrize("section", SECTIONS)
def test_the_numbers_of_a_section_are_its_module_s(section: str) -> None:
    header = {
        name: int(value.rstrip("u"), 0)
        for name, value in re.findall(r"#define (KEPT_\w+)\s+(-?\w+)\s*$", CODE[section], re.MULTILINE)
    }
    module = {name: value for name, value in vars(module_of(section)).items() if name.startswith("KEPT_")}
    own = {name: value for name, value in module.items() if isinstance(value, int)}
    # A module may also import what another section defines.
    assert header.items() <= own.items()
    assert all(re.search(rf"#define {name}\s", HEADER) for name in module)


@pytest.mark.parametrize(
    ("section", "name"),
    [
        ("status", "kept_error"),
        ("store", "kept_options"),
        ("transactions", "kept_transaction_options"),
        ("export_and_import", "kept_transfer_options"),
        ("migrations", "kept_migration"),
    ],
)
def test_a_struct_has_the_header_s_fields(section: str, name: str) -> None:
    body = re.search(rf"typedef struct {name} \{{(.*?)\}} {name};", CODE[section], re.DOTALL)
    assert body is not None
    fields: list[tuple[str, Any]] = []
    for declaration, field, _, count in re.findall(r"(\w[\w *]*?(\w+))(\[(\d+)\])?;", body[1]):
        fields.append((field, ctypes.c_char * int(count) if count else type_of(declaration)))
    assert list(getattr(module_of(section), name)._fields_) == fields


def test_every_struct_with_fields_is_compared() -> None:
    assert set(re.findall(r"typedef struct (\w+) \{", without_comments(HEADER))) == {
        "kept_error", "kept_options", "kept_transaction_options", "kept_transfer_options", "kept_migration",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("section", "name"),
    [
        ("keys", "kept_list_callback"),
        ("export_and_import", "kept_progress_callback"),
        ("migrations", "kept_migration_callback"),
        ("observation", "kept_notice_callback"),
        ("store", "kept_report_callback"),
    ],
)
def test_a_callback_has_the_header_s_types(section: str, name: str) -> None:
    found = re.search(rf"typedef (\w+) \(\*{name}\)\((.*?)\);", CODE[section])
    assert found is not None
    kind = getattr(module_of(section), name)
    assert kind._restype_ is TYPES[found[1]]
    assert list(kind._argtypes_) == [type_of(parameter) for parameter in found[2].split(", ")]


def test_the_initial_options_are_the_header_s() -> None:
    options = module_of("store").KEPT_OPTIONS_INIT()
    initial = "KEPT_SHARED, 5000u, KEPT_BY_LIBRARY, 0u, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL"
    assert f"{{ sizeof(kept_options), {initial} }}" in HEADER
    assert (options.size, options.durability, options.busy_timeout_ms) == (ctypes.sizeof(options), 0, 5000)
    assert (options.delivery, options.access, options.tag) == (0, 0, None)
    assert (options.managed, options.system, options.environment, options.argc) == (None, None, None, 0)
    assert not options.argv and not options.report and options.report_context is None
    options = module_of("transactions").KEPT_TRANSACTION_OPTIONS_INIT()
    assert "{ sizeof(kept_transaction_options), KEPT_AS_OPENED, 0u, NULL }" in HEADER
    assert (options.size, options.durability, options.reserved) == (ctypes.sizeof(options), 0xFFFFFFFF, 0)
    assert options.tag is None
    options = module_of("export_and_import").KEPT_TRANSFER_OPTIONS_INIT()
    assert "{ sizeof(kept_transfer_options), 0u, NULL, NULL, NULL, NULL, NULL }" in HEADER
    assert (options.size, options.flags) == (ctypes.sizeof(options), 0)
    assert (options.prefix, options.separator, options.progress_context) == (None, None, None)
    assert not options.progress


def test_each_status_has_one_exception_class() -> None:
    statuses = {value for name, value in vars(module_of("status")).items() if name.startswith("KEPT_") and value < 0}
    assert set(_errors.class_of_status) == statuses
    assert len(set(_errors.class_of_status.values())) == len(statuses)


def test_the_names_of_the_statuses_are_the_classes_names() -> None:
    for status, error in _errors.class_of_status.items():
        name = module_of("status").kept_status_text(status).decode().title().replace(" ", "")
        assert error.__name__ == f"{name}Error"
