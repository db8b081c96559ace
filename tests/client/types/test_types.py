"""Every row of interface/client_types.json has its type, with exactly its fields, and survives a round trip through JSON."""

import base64
import json
import types as python_types
import typing
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.client import types
from holdfast.client.types.base import octets

ROOT = Path(__file__).parents[3]
TABLE = json.loads((ROOT / "interface/client_types.json").read_text())["types"]
RECORDS = sorted(name for name, row in TABLE.items() if row["kind"] == "record")
SAMPLES = {
    "string": "0x01", "number": 7, "1": 1, "boolean": True, "object": {"k": ["v", 1]},
    "map<string>": {"k": "v"}, "number[]": [0, 255], "string[]": ["usb"], "T": {"any": 1},
}  # fmt: skip


def described(kind):
    """Return a Python type annotation in the table's notation."""
    if typing.get_origin(kind) is typing.Annotated:
        return described(typing.get_args(kind)[0])
    if isinstance(kind, typing.TypeVar):
        return "T"
    if kind == types.BinaryPayload:
        return "BinaryPayload"
    simple = {str: "string", int: "number", bool: "boolean", types.Octets: "number[]", type(None): "null"}
    if kind in simple:
        return simple[kind]
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, python_types.UnionType):
        return " | ".join(described(argument) for argument in arguments)
    if origin is typing.Literal:
        return " | ".join(json.dumps(argument) for argument in arguments)
    if origin is tuple:
        return described(arguments[0]) + "[]"
    if origin is dict:
        return "object" if arguments[1] is typing.Any else f"map<{described(arguments[1])}>"
    return kind.__name__


def fields_of(cls):
    hints = typing.get_type_hints(cls, include_extras=True)
    found = {}
    for field in msgspec.structs.fields(cls):
        kind = described(hints[field.name])
        row = {"type": kind, "required": field.required}
        if not field.required and field.default is None:
            row["type"] = kind.removesuffix(" | null")
        elif not field.required:
            row["default"] = field.default
        found[field.encode_name] = row
    return found


def sample(kind):
    first = kind.split(" | ", maxsplit=1)[0]
    if first.startswith('"'):
        return json.loads(first)
    if first.removesuffix("[]") in TABLE:
        row = TABLE[first.removesuffix("[]")]
        one = record(row) if row["kind"] == "record" else row["values"][0] if row["kind"] == "enumeration" else "AQID"
        return [one] if first.endswith("[]") else one
    return SAMPLES[first]


def record(row, *, whole=True):
    fields = {name: sample(f["type"]) for name, f in row["fields"].items() if whole or f["required"]}
    numbers = {name for name in fields if name in {"nonce", "block_number"} and fields[name] == SAMPLES["string"]}
    return fields | dict.fromkeys(numbers, "7")


@pytest.mark.parametrize("name", RECORDS)
def test_fields_are_exactly_those_of_the_interface_frozen_and_given_by_keyword(name):
    cls = getattr(types, name)
    assert fields_of(cls) == TABLE[name]["fields"]
    built = cls.from_json(record(TABLE[name]))
    with pytest.raises(AttributeError):
        setattr(built, cls.__struct_fields__[0], None)
    with pytest.raises(TypeError):
        cls("positional")
    assert all(attribute == attribute.lower() for attribute in cls.__struct_fields__)


@pytest.mark.parametrize("whole", [True, False], ids=["all-fields", "required-only"])
@pytest.mark.parametrize("name", RECORDS)
def test_json_survives_both_ways(name, whole):
    value = record(TABLE[name], whole=whole)
    cls = getattr(types, name)
    built = cls.from_json(value)
    assert built == cls.from_json(json.dumps(value))
    defaults = {wire for wire, f in TABLE[name]["fields"].items() if value.get(wire) == f.get("default", ...)}
    assert built.to_json() == {wire: item for wire, item in value.items() if wire not in defaults}
    assert cls.from_json(built.to_json()) == built


@pytest.mark.parametrize("name", [n for n, row in TABLE.items() if row["kind"] == "enumeration"])
def test_enumerations_hold_exactly_the_documented_values(name):
    assert [member.value for member in getattr(types, name)] == TABLE[name]["values"]


def test_every_row_has_its_type_and_every_named_type_is_exported():
    assert not [name for name in TABLE if name not in types.__all__]
    assert len(types.__all__) == len(set(types.__all__))
    assert all(hasattr(types, name) for name in types.__all__)


@given(st.binary(max_size=200))
def test_bytes_are_read_in_all_three_forms(data):
    import base64

    forms = [list(data), "0x" + data.hex(), base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()]
    assert {types.LoadInput.from_json({"database": form}).database for form in forms} == {data}
    assert types.LoadInput(database=types.Octets(data)).to_json() == {"database": list(data)}
    assert types.payload_bytes(tuple(data)) == data


@pytest.mark.parametrize("bad", [[256], [-1], [1.5], [True], "0x1", "0xzz", "a$b=", {"0": 1}, 5])
def test_other_bytes_are_refused(bad):
    with pytest.raises(ValueError, match=r"."):
        types.LoadInput.from_json({"database": bad})


def test_passwords_do_not_show():
    shown = repr(types.VaultExportOptions(password="hunter2")) + repr(
        types.VaultImportOptions(data=types.Octets(b"x"), password="hunter2")
    )
    assert "hunter2" not in shown


@pytest.mark.parametrize("start", ["0X", "0x"])
def test_base64_may_begin_like_hex(start):
    text = start + "q8KktTlZKH4mP7AiGM6upcrOfHSUtcFUYv6mUPzxZI2Xyh+yQ0YqjuBheJGXu55fVmub1nM9IAt8q9VLmgYA=="
    assert octets(text) == base64.b64decode(text)
