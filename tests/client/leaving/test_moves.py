"""What leaves an account: what is read of it, the batch, its texts, and the arithmetic of its coin."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.chain.abi import decode_call
from holdfast.chain.account_reads import Owner
from holdfast.chain.calls import execute_batch
from holdfast.client.flows.accounts import address_in
from holdfast.client.leaving.moves import (
    Destination,
    Holdings,
    Nft,
    Token,
    amount_text,
    coin_after,
    moves_of,
    nft_of,
    wei_of,
    wei_text,
)
from holdfast.client.leaving.reading import Standing
from holdfast.wire.keccak import checksum_address

ACCOUNT, TO, HEIR, USDC, ART, REGISTRY, ENTRY = (checksum_address(bytes([n]) * 20) for n in range(1, 8))
WHERE = Destination(account=ACCOUNT, to=TO, did_to=HEIR, registry=REGISTRY, entry_point=ENTRY)
FULL = Holdings(
    coin=10**18,
    deposit=5,
    did_hash=b"d" * 32,
    tokens=(Token(USDC, 25_000_000, "USDC", 6), Token(ART, 0, "NONE", 0)),
    nfts=(Nft(ART, 7), Nft(ART, 8, 3)),
)


def test_everything_is_in_one_batch_with_the_coin_last():
    moves = moves_of(FULL, WHERE, coin=FULL.coin, deposit=FULL.deposit)
    assert [move.kind for move in moves] == ["token", "nft", "nft", "did", "deposit", "coin"]
    assert [move.text for move in moves] == [
        f"25 USDC (token {USDC}) to {TO}",
        f"NFT 7 of {ART} to {TO}",
        f"3 of NFT 8 of {ART} to {TO}",
        f"the DID to {HEIR}, which then has to accept it",
        f"0.000000000000000005 ETH deposited at the entry point to {TO}",
        f"1 ETH to {TO}",
    ]
    (batch,) = decode_call("executeBatch((address,uint256,bytes)[])", execute_batch([move.call for move in moves]))
    assert [(checksum_address(bytes.fromhex(to[2:])), value, data) for to, value, data in batch] == [
        move.call for move in moves
    ]


def test_each_call_does_what_its_text_says():
    token, nft, pieces, did, deposit, coin = (move.call for move in moves_of(FULL, WHERE, coin=1, deposit=5))
    named = [address.lower() for address in (ACCOUNT, TO, HEIR)]
    account, to, heir = named
    assert (token[0], decode_call("transfer(address,uint256)", token[2])) == (USDC, (to, 25_000_000))
    assert decode_call("safeTransferFrom(address,address,uint256)", nft[2]) == (account, to, 7)
    signature = "safeTransferFrom(address,address,uint256,uint256,bytes)"
    assert decode_call(signature, pieces[2]) == (account, to, 8, 3, b"")
    assert (did[0], decode_call("changeController(bytes32,address)", did[2])) == (REGISTRY, (b"d" * 32, heir))
    assert (deposit[0], decode_call("withdrawTo(address,uint256)", deposit[2])) == (ENTRY, (to, 5))
    assert coin == (TO, 1, b"")


def test_an_empty_account_has_no_moves_and_a_did_stays_unless_named():
    empty = Holdings(coin=0, deposit=0, did_hash=b"d" * 32)
    where = Destination(account=ACCOUNT, to=TO, did_to=None, registry=REGISTRY, entry_point=ENTRY)
    assert moves_of(empty, where, coin=0, deposit=0) == []


@given(st.integers(0, 10**20), st.integers(0, 10**20), st.integers(0, 10**20))
def test_coin_is_left_for_exactly_the_fees(coin, deposit, cost):
    held = Holdings(coin=coin, deposit=deposit, did_hash=None)
    if coin + deposit < cost:
        with pytest.raises(ValueError, match="cannot pay"):
            coin_after(held, cost)
    else:
        sent = coin_after(held, cost)
        assert 0 <= sent <= coin
        assert coin - sent == max(cost - deposit, 0)


@given(st.integers(0, 10**42 - 1))
def test_amounts_of_coin_are_exact(wei):
    assert wei_of(wei_text(wei).removesuffix(" ETH")) == wei


@pytest.mark.parametrize("text", ["", "-1", "1e-19", "NaN", "Infinity", "1e30", "one"])
def test_other_texts_are_no_amount(text):
    with pytest.raises(ValueError, match="not an amount"):
        wei_of(text)


def test_amounts_of_tokens():
    assert [amount_text(*given) for given in ((25_000_000, 6), (1, 6), (7, 0), (0, 18))] == ["25", "0.000001", "7", "0"]


def test_addresses_and_nfts():
    mixed = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
    assert {address_in(text, "") for text in (mixed, mixed.lower(), "0x" + mixed[2:].upper())} == {mixed}
    assert nft_of(f"{mixed.lower()}:12") == (mixed, 12)
    for wrong in (mixed.replace("f3", "F3"), "0x" + "00" * 20, mixed[2:], mixed + "00"):
        with pytest.raises(ValueError, match="--to"):
            address_in(wrong, "--to")
    for wrong in (mixed, f"{mixed}:", f"{mixed}:-1", f"{mixed}:0x1", f"{mixed}:{2**256}"):
        with pytest.raises(ValueError, match="--nft"):
            nft_of(wrong)


OWN, OTHER, OVER = (bytes([number]) * 64 for number in (1, 2, 3))


def test_an_owner_whose_time_is_over_is_not_named_as_the_second_key():
    account = SimpleNamespace(key=SimpleNamespace(signer=OWN))
    owners = tuple(Owner(key, expiry, is_primary=False) for key, expiry in ((OWN, 0), (OTHER, 2**40), (OVER, 1)))
    assert Standing(account, None, owners).others == [OTHER]
