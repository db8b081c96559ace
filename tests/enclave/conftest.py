"""Fixtures for the enclave's tests: a credential, a key-encryption key and an unlocked vault."""

import pytest
from tests.support import primitives as compiled
from tests.support.credentials import KEY, registration
from tests.support.made_once import made_of

from holdfast.enclave import Enclave


@pytest.fixture(scope="session")
def primitives():
    """The module's primitives without the vault (tests/support/primitives.py); compiling them takes half a minute."""
    folder = made_of(compiled.sources(), "primitives", compiled.compile_into)
    return compiled.Primitives(folder / compiled.MODULE)


@pytest.fixture
def credential():
    return registration()


@pytest.fixture
def key():
    return dict(KEY)


@pytest.fixture
def enclave():
    with Enclave() as instance:
        yield instance


@pytest.fixture
def generated(enclave, credential, key):
    return enclave.call("generate", credential=credential, key=key, device_name="test")


@pytest.fixture
def vault(enclave, generated):
    assert generated["did"]
    return enclave
