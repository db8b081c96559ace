"""After a registration through the service on a real chain, the service, the chain and the indexer agree."""

import secrets

import httpx2
from tests.support.serving import PATIENCE_S, becomes_true
from tests.support.terminal import Terminal

from holdfast.wire.encoding import to_hex
from holdfast.wire.keccak import alias_hash, did_hash


def test_service_chain_and_indexer_agree(chain, tmp_path):
    ada = Terminal(tmp_path, chain.base_url.replace("127.0.0.1", "localhost"), key="passkey")
    account, handle = ada.json("vault", "create", "--software")["account"].lower(), secrets.token_hex(8)
    made = ada.json("register", "--handle", handle)
    did, (credential,) = made["did"], ada.json("vault", "credentials")

    def get(path, **query):
        answer = httpx2.get(chain.base_url + path, params=query, timeout=PATIENCE_S)
        assert answer.status_code == 200, answer.text
        return answer.json()

    found = get("/api/dids/lookup", credentialId=credential["credential_id"])
    assert (found["did"], found["txHash"], found["smartAccount"].lower()) == (did, made["tx_hash"], account)
    assert get("/api/aliases/check", alias=handle) == {"available": False, "did": did}
    assert becomes_true(lambda: get("/api/accounts/state", account=account)["isActive"]), "an older state is kept long"
    state = get("/api/accounts/state", account=account)
    assert (state["nonce"], state["did"]) == ("1", to_hex(did_hash(did)))
    predicted = get("/api/accounts/predict", pubKeyX=state["pubKeyX"], pubKeyY=state["pubKeyY"])
    assert predicted["address"].lower() == account
    indexer = "/api/indexer/api/"
    assert becomes_true(lambda: get(f"{indexer}dids/{did}")["found"])
    shown = get(f"{indexer}dids/{did}")
    assert (shown["did_hash"], shown["controller"].lower(), shown["active"]) == (state["did"], account, True)
    block = str(chain.receipt(made["tx_hash"]).block_number)
    assert (shown["block_number"], shown["tx_hash"]) == (block, made["tx_hash"])
    alias = get(f"{indexer}aliases/{handle}")
    assert (alias["alias_hash"], alias["did_hash"]) == (to_hex(alias_hash(handle)), state["did"])
    assert get(f"{indexer}accounts/{account}")["tx_hash"] == made["tx_hash"]
