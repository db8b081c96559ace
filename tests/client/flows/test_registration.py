"""What a registration needs from the application; vectors/flows/register_*.json states what happens on the way."""

import pytest
from tests.support.payments import new_vault

import holdfast
from holdfast.enclave.module import bundled_sha256
from holdfast.wire.client_errors import ClientStateError, WasmLoadError


@pytest.fixture
def client(service, store):
    with new_vault(store) as vault, holdfast.Client(service.base_url, vault=vault) as made:
        yield made


def test_a_registration_needs_a_vault(service):
    with holdfast.Client(service.base_url) as without, pytest.raises(ClientStateError, match="has no vault"):
        without.register(handle="a")


def test_the_services_module_is_taken_when_it_is_the_expected_one(client, tmp_path, monkeypatch):
    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path))
    file = client.enclave_module()
    with holdfast.Vault(module=file) as vault:
        assert vault.boot_status.enclave
    assert client.enclave_module(bundled_sha256()) == file
    with pytest.raises(WasmLoadError, match="not the expected one"):
        client.enclave_module("00" * 32)
