"""The six error classes are as interface/client_errors.json defines them."""

import json
from pathlib import Path

import pytest

from holdfast.wire import client_errors

TABLE = json.loads((Path(__file__).parents[2] / "interface/client_errors.json").read_text())


@pytest.mark.parametrize("name", TABLE["classes"])
def test_name_base_prefix_and_properties(name):
    row = TABLE["classes"][name]
    cls = getattr(client_errors, name)
    with_function = "functionName" in row.get("properties", [])
    error = cls("generate", "broke") if with_function else cls("broke")
    assert error.name == cls.name == row["name"]
    assert str(error) == row["message"].format(functionName="generate", message="broke")
    assert isinstance(error, client_errors.ServiceError)
    assert isinstance(error, Exception)
    if with_function:
        assert error.function_name == "generate"


def test_the_base_class():
    assert client_errors.ServiceError.name == TABLE["base"]["name"]
    assert str(client_errors.ServiceError("x")) == "x"


def test_no_documented_class_is_missing_or_extra():
    subclasses = {
        cls.__name__
        for cls in vars(client_errors).values()
        if isinstance(cls, type) and issubclass(cls, client_errors.ServiceError)
    }
    assert subclasses == {*TABLE["classes"], "ServiceError"}
