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


def test_the_classes_are_the_documented_ones_and_their_base():
    base = client_errors.ServiceError
    subclasses = {name for name, it in vars(client_errors).items() if isinstance(it, type) and issubclass(it, base)}
    assert subclasses == {*TABLE["classes"], "ServiceError"}
    assert (base.name, str(base("x"))) == (TABLE["base"]["name"], "x")
