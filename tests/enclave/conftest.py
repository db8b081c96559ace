"""Fixtures for the enclave's tests: a credential, a key-encryption key and an unlocked vault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support import primitives as compiled
from tests.support.credentials import KEY, registration
from tests.support.made_once import made_of

from holdfast.enclave import Enclave

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def primitives() -> Any:
    """The module's primitives without the vault (tests/support/primitives.py); compiling them takes half a minute."""
    folder = made_of(compiled.sources(), "primitives", compiled.compile_into)
    return compiled.Primitives(folder / compiled.MODULE)


@pytest.fixture
def credential() -> bytes:
    return registration()


@pytest.fixture
def key() -> dict[str, str]:
    return dict(KEY)


@pytest.fixture
def enclave() -> Iterator[Enclave]:
    with Enclave() as instance:
        yield instance


@pytest.fixture
def generated(enclave: Enclave, credential: bytes, key: dict[str, str]) -> dict[str, Any]:
    return enclave.call("generate", credential=credential, key=key, device_name="test")


@pytest.fixture
def vault(enclave: Enclave, generated: dict[str, Any]) -> Enclave:
    assert generated["did"]
    return enclave


@pytest.fixture
def secp_vault(credential: bytes, key: dict[str, str]) -> Iterator[Enclave]:
    with Enclave() as instance:
        instance.call("generate", credential=credential, key=key, curve="secp256k1")
        yield instance
