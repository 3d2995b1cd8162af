"""Decrypts the examples of docs/internals/file-format.md, written from that page alone.

python3 Tests/vectors/test_secrets.py    makes other examples, which the tests in Swift decrypt, too
"""

import base64
import hashlib
import json
import os
import pathlib
import struct
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

FILE = pathlib.Path(__file__).with_name("secrets.json")


def canonical(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def context(*parts: bytes) -> bytes:
    return b"".join(struct.pack("<I", len(part)) + part for part in parts)


def cipher(key: bytes, salt: bytes, context: bytes) -> ChaCha20Poly1305:
    return ChaCha20Poly1305(hashlib.blake2b(salt + context, key=key, digest_size=32).digest())


def seal(key: bytes, context: bytes, plain: bytes) -> bytes:
    salt = os.urandom(24)
    return salt + cipher(key, salt, context).encrypt(bytes(12), plain, None)


def unseal(key: bytes, context: bytes, sealed: bytes) -> bytes:
    return cipher(key, sealed[:24], context).decrypt(bytes(12), sealed[24:], None)


def provider_key(provider: dict[str, Any], file: str, passphrase: str) -> bytes:
    if provider["kind"] == "file":
        return base64.b64decode(file.removesuffix("\n"))
    salt = base64.b64decode(provider["salt"])
    limits = {"iterations": provider["operations"], "lanes": 1, "memory_cost": provider["memory"] // 1024}
    return Argon2id(salt=salt, length=32, **limits).derive(passphrase.encode())


def wrapping(document: dict[str, Any], provider: dict[str, Any], data_key: dict[str, Any]) -> bytes:
    parameters = {name: value for name, value in provider.items() if name != "wrapped"}
    return context(b"kept data key 1", base64.b64decode(document["id"]), canonical(data_key), canonical(parameters))


def data_keys(vectors: dict[str, Any], provider: dict[str, Any]) -> dict[int, bytes]:
    document = vectors["document"]
    key = provider_key(provider, vectors["file"], vectors["passphrase"])
    return {
        data_key["number"]: unseal(
            key,
            wrapping(document, provider, data_key),
            base64.b64decode(provider["wrapped"][str(data_key["number"])]),
        )
        for data_key in document["keys"]
    }


def key_pair(document: dict[str, Any], number: int, data_key: bytes) -> X25519PrivateKey:
    use = context(b"kept key pair 1", base64.b64decode(document["id"]), struct.pack("<I", number))
    return X25519PrivateKey.from_private_bytes(hashlib.blake2b(use, key=data_key, digest_size=32).digest())


def public(pair: X25519PrivateKey) -> bytes:
    return pair.public_key().public_bytes_raw()


def value_context(document: dict[str, Any], key: str, revision: int, *public_keys: bytes) -> bytes:
    use = b"kept value 2" if public_keys else b"kept value 1"
    store = base64.b64decode(document["id"])
    return context(use, store, key.encode(), struct.pack("<Q", revision), *public_keys)


def open_value(document: dict[str, Any], keys: dict[int, bytes], key: str, sealed: bytes) -> tuple[int, bytes]:
    form, number, revision = struct.unpack_from("<BIQ", sealed)
    if form == 1:
        plain = unseal(keys[number], value_context(document, key, revision), sealed[13:])
    else:
        assert form == 2
        own, sender = key_pair(document, number, keys[number]), sealed[13:45]
        shared = own.exchange(X25519PublicKey.from_public_bytes(sender))
        plain = unseal(shared, value_context(document, key, revision, sender, public(own)), sealed[45:])
    return plain[0], plain[1:]


def export_key(export: dict[str, Any], passphrase: str) -> bytes:
    return provider_key(export["encryption"], "", passphrase)


def exported_context(export: dict[str, Any], key: str) -> bytes:
    return context(b"kept exported value 1", base64.b64decode(export["encryption"]["salt"]), key.encode())


def exported_secrets(export: dict[str, Any], passphrase: str) -> dict[str, bytes]:
    key = export_key(export, passphrase)
    return {
        name: unseal(key, exported_context(export, name), base64.b64decode(sealed))
        for name, sealed in export["secrets"].items()
    }


def seal_to_public(document: dict[str, Any], number: int, key: str, revision: int, plain: bytes) -> bytes:
    """Seals a value with what the file says, without the data key."""
    (named,) = [data_key for data_key in document["keys"] if data_key["number"] == number]
    receiver, pair = base64.b64decode(named["public"]), X25519PrivateKey.generate()
    shared = pair.exchange(X25519PublicKey.from_public_bytes(receiver))
    sealed = seal(shared, value_context(document, key, revision, public(pair), receiver), plain)
    return struct.pack("<BIQ", 2, number, revision) + public(pair) + sealed


@pytest.fixture
def vectors() -> Any:
    return json.loads(FILE.read_text(encoding="utf-8"))


def test_each_provider_gives_the_data_keys(vectors: Any) -> None:
    given = [data_keys(vectors, provider) for provider in vectors["document"]["providers"]]
    known = {int(number): base64.b64decode(key) for number, key in vectors["data keys"].items()}
    assert given == [known, known]


def test_each_value_is_what_was_sealed(vectors: Any) -> None:
    keys = data_keys(vectors, vectors["document"]["providers"][0])
    for value in vectors["values"]:
        sealed = base64.b64decode(value["sealed"])
        kind, payload = open_value(vectors["document"], keys, value["key"], sealed)
        assert (kind, payload) == (value["kind"], base64.b64decode(value["payload"]))
        assert struct.unpack_from("<Q", sealed, 5) == (value["revision"],)


def test_the_public_key_of_each_data_key_is_in_the_file(vectors: Any) -> None:
    document = vectors["document"]
    for number, key in data_keys(vectors, document["providers"][0]).items():
        (named,) = [data_key for data_key in document["keys"] if data_key["number"] == number]
        assert base64.b64decode(named["public"]) == public(key_pair(document, number, key))


def test_a_value_of_another_key_is_refused(vectors: Any) -> None:
    keys = data_keys(vectors, vectors["document"]["providers"][0])
    for value in vectors["values"]:
        with pytest.raises(InvalidTag):
            open_value(vectors["document"], keys, "another", base64.b64decode(value["sealed"]))


def test_each_secret_of_an_export_is_the_json_that_was_sealed(vectors: Any) -> None:
    secrets = exported_secrets(vectors["export"], vectors["passphrase"])
    assert {name: json.loads(secret) for name, secret in secrets.items()} == vectors["exported"]


def test_a_secret_of_an_export_is_bound_to_its_key(vectors: Any) -> None:
    names = list(vectors["export"]["secrets"])
    vectors["export"]["secrets"][names[0]] = vectors["export"]["secrets"][names[1]]
    with pytest.raises(InvalidTag):
        exported_secrets(vectors["export"], vectors["passphrase"])


def text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def make() -> dict[str, Any]:
    keys = {1: os.urandom(32), 2: os.urandom(32)}
    vectors: dict[str, Any] = {"passphrase": "Pässword in a test", "file": text(os.urandom(32)) + "\n"}
    document: dict[str, Any] = {
        "format": 1,
        "id": text(os.urandom(16)),
        "state": "encrypted",
        "keys": [
            {"number": 1, "created": "2026-11-29T08:00:00Z", "state": "old"},
            {"number": 2, "created": "2026-11-30T12:00:00.25Z", "state": "current"},
        ],
        "providers": [
            {"kind": "file", "path": '/run/keys/"kept" Schlüssel'},
            {"kind": "passphrase", "salt": text(os.urandom(16)), "operations": 2, "memory": 1 << 20},
        ],
    }
    for data_key in document["keys"]:
        data_key["public"] = text(public(key_pair(document, data_key["number"], keys[data_key["number"]])))
    for provider in document["providers"]:
        key = provider_key(provider, vectors["file"], vectors["passphrase"])
        provider["wrapped"] = {
            str(data_key["number"]): text(
                seal(key, wrapping(document, provider, data_key), keys[data_key["number"]]),
            )
            for data_key in document["keys"]
        }
    vectors["document"] = document
    vectors["data keys"] = {str(number): text(key) for number, key in keys.items()}
    vectors["values"] = []
    for name, number, revision, kind, payload in [
        ("api.token", 1, 7, 5, b"hunter2"),
        ("mail.Passwörter", 2, 2**63 + 5, 9, b'{"a":"b"}'),
        ("pin", 2, 8, 2, struct.pack("<q", 4711)),
        ("empty", 2, 9, 6, b""),
        ("k" * 1024, 2, 10, 6, bytes(range(256)) * 5),
    ]:
        sealed = seal(keys[number], value_context(document, name, revision), bytes([kind]) + payload)
        whole = struct.pack("<BIQ", 1, number, revision) + sealed
        value = {"key": name, "revision": revision, "kind": kind, "payload": text(payload), "sealed": text(whole)}
        vectors["values"].append(value)
    make_export(vectors)

    for name, number, revision, kind, payload in [
        ("api.token", 1, 11, 5, b"hunter3"),
        ("mail.Passwörter", 2, 2**64 - 1, 9, b'{"a":"c"}'),
        ("empty", 2, 12, 6, b""),
    ]:
        whole = seal_to_public(document, number, name, revision, bytes([kind]) + payload)
        value = {"key": name, "revision": revision, "kind": kind, "payload": text(payload), "sealed": text(whole)}
        vectors["values"].append(value)
    return vectors


def make_export(vectors: dict[str, Any]) -> None:
    vectors["exported"] = {
        "api.token": "hunter2",
        "mail.Passwörter": {"a": ["b", None]},
        "pin": 4711,
        "since": {"$date": "2026-11-30T12:00:00Z"},
    }
    encryption = {"kind": "passphrase", "salt": text(os.urandom(16)), "operations": 2, "memory": 1 << 20}
    export: dict[str, Any] = {"encryption": encryption, "kept": 1, "prefix": "", "revision": 9, "values": {"open": 1}}
    types = dict(zip(vectors["exported"], ["string", "object", "integer", "date"], strict=True))
    export["declarations"] = {name: {"type": kind, "secret": True} for name, kind in types.items()}
    key = export_key(export, vectors["passphrase"])
    export["secrets"] = {
        name: text(seal(key, exported_context(export, name), canonical(value)))
        for name, value in vectors["exported"].items()
    }
    vectors["export"] = export


if __name__ == "__main__":
    FILE.write_text(json.dumps(make(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
