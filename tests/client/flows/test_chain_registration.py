"""The vault's part in a claim of an alias: the name that is hashed, and the secret of the commitment."""

from types import SimpleNamespace

import pytest
from tests.client.snapshots.devices import SECRET, Device

from holdfast.chain.abi import decode_call
from holdfast.chain.contracts import ADDRESSES, DEFAULT_CONTRACT_SET, commitment
from holdfast.client.flows.operations import SmartAccount
from holdfast.client.handles import canonical_handle
from holdfast.client.types import ContractSet
from holdfast.wire.keccak import alias_hash, did_hash


@pytest.mark.parametrize("text", ["", "a b", "x" * 65, "\u202eada"])
def test_no_handle_no_alias(text):
    with pytest.raises(ValueError, match="handle"):
        canonical_handle(text)


async def test_the_secret_is_the_vaults_own_so_that_another_device_can_continue(tmp_path):
    async with Device(tmp_path / "one") as one, Device(tmp_path / "two") as two:
        await one.made()
        made = [await registration_calls(one.vault)]
        await two.vault.unlock(SECRET, one.store.load().sealed)
        made.append(await registration_calls(two.vault))
        did, address = one.store.dids()[0], (await one.vault.derive_address()).address
    (registry, _, register_data), (_, _, commit_data) = made[0]
    secret = decode_call("register(uint256,uint256,uint256,bytes32,bytes32,string)", register_data)[4]
    expected = commitment(did_hash(did), alias_hash("ada"), address, secret)
    assert decode_call("commit(bytes32)", commit_data) == (expected,)
    assert (made[0], registry.lower()) == (made[1], ADDRESSES["DIDRegistry"].lower())
    assert any(secret)


async def registration_calls(vault):
    account = SmartAccount(None, vault, None, None, None)
    account.contracts = ContractSet.from_json(DEFAULT_CONTRACT_SET)
    account.key = SimpleNamespace(address=(await vault.derive_address()).address)
    return [await account.registration_call("ada", "register"), await account.registration_call("ada", "commit")]
