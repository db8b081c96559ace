"""The servers of the scenarios of registrations and payments: a service with its bundler, and a chain."""

import json

import httpx2
from tests.client.flows.scenarios.files import DEFAULTS
from tests.client.flows.scenarios.script import SCRIPT, reached

FACTS = DEFAULTS["facts"]
ZEROS = "0x" + "00" * 32
USUAL = object()  # stands for a default answer
_CACHED = "GET /api/contracts"  # for a day: no effect


class World:
    """What the servers know. Requests without a scripted answer get the usual one."""

    def __init__(self, given):
        account = given.get("account", {})
        self.nonce, self.registered = account.get("nonce", 0), account.get("registered", False)
        self.key = (FACTS["x"], FACTS["y"])
        self.records = {}  # by credential
        self.signed = []  # hashes of user operations, in the order of signing
        self.mined = set()

    def symbol(self, value):
        """Return the name of a user operation for its hash, and any other value unchanged."""
        return f"operation {self.signed.index(value) + 1}" if value in self.signed else value

    def named(self, text):
        """Return a text with the names of user operations in place of their hashes."""
        for number, operation_hash in enumerate(self.signed, 1):
            text = text.replace(operation_hash, f"operation {number}") if isinstance(text, str) else text
        return text

    async def answer(self, request):
        """Answer a request to any of the servers."""
        body = json.loads(request.content) if request.content else dict(request.url.params)
        if request.url.host == "rpc.example":
            return await self._of_chain(body)
        if request.url.path == "/api/bundler":
            return await self._rpc("bundler", body)
        name = f"{request.method} {'/'.join(request.url.path.split('/')[:5])}"
        signed = " signed" if "authorization" in request.headers else ""
        return await self._http(name, body, self._detail(name, body) + signed)

    async def _of_chain(self, body):
        if not isinstance(body, list):
            return await self._rpc("chain", body)
        return httpx2.Response(200, json=[(await self._rpc("chain", one)).json() for one in body])

    async def _http(self, name, body, detail):
        answer = await self.performed(name, detail, lambda: self._change(name, body))
        if isinstance(answer, dict) and "refused" in answer:
            code, status = answer["refused"]
            headers = {"Retry-After": str(answer["retry_after"])} if "retry_after" in answer else {}
            return httpx2.Response(status, json={"error": code}, headers=headers)
        return httpx2.Response(200, json=self._usual(name, body) if answer is USUAL else answer)

    async def _rpc(self, server, body):
        method, params = body["method"], body.get("params", [])
        name = f"{server} {method}"
        answer = await self.performed(name, self._of_operation(method, params), lambda: self._send(method, params))
        if isinstance(answer, dict) and "refused" in answer:
            code, status = answer["refused"]
            return httpx2.Response(status, json={"error": code})
        envelope = {"jsonrpc": "2.0", "id": body["id"]}
        if answer == "reverted":
            return httpx2.Response(200, json=envelope | {"result": self.receipt(params[0]) | {"success": False}})
        if isinstance(answer, dict) and "rpc" in answer:
            code, message, *data = answer["rpc"]
            error = {"code": code, "message": message} | ({"data": data[0]} if data else {})
            return httpx2.Response(200, json=envelope | {"error": error})
        return httpx2.Response(
            200, json=envelope | {"result": self._result(name, params) if answer is USUAL else answer}
        )

    async def performed(self, name, detail, then):
        """Record an effect and return its scripted answer, or USUAL. Raises httpx2's errors."""
        script = SCRIPT.get()
        answer = script.scripted(name)
        if reached(answer) and not (isinstance(answer, dict) and "rpc" in answer):
            then()
        if name != _CACHED:
            await script.perform(name + detail)
        if answer in ("lost", "unsent"):
            raise httpx2.ReadError("lost")
        if answer == "late":
            raise httpx2.ReadTimeout("late")
        if isinstance(answer, dict) and "result" in answer:
            return answer["result"]
        return USUAL if answer is None else answer

    def _detail(self, name, body):
        if body.get("credentialId", FACTS["credential"]) != FACTS["credential"]:
            return f" of {body['credentialId']}"
        if name == "POST /api/dids":
            return " without a transaction" if body["txHash"] == ZEROS else " with a transaction"
        return f" {body['code']}" if name == "POST /api/verify/check" else ""

    def _of_operation(self, method, params):
        if method == "eth_getUserOperationReceipt":
            return f" of {self.symbol(params[0])}"
        if method == "eth_call" and params[0]["data"] == FACTS["get_alias"]:
            return f" of {FACTS['alias']}"
        if method == "eth_sendUserOperation":
            payer = "sponsor" if int(params[0].get("paymaster") or "0x0", 16) else "account"
            return f" nonce {int(params[0]['nonce'], 16)}, the {payer} pays"
        return f" nonce {int(params[0]['nonce'], 16)}" if params and "callData" in params[0] else ""

    def _change(self, name, body):
        if name == "POST /api/dids":
            self.records[body["credentialId"]] = _filled(DEFAULTS["registered"], body)

    def _send(self, method, params):
        if method == "eth_sendUserOperation" and self.signed[-1] not in self.mined:
            self.mined.add(self.signed[-1])
            self.nonce += 1
            self.registered |= params[0]["callData"] == FACTS["register"]

    def _usual(self, name, body):
        if name == "GET /api/accounts/state":
            return self._own_state() if body["account"] == FACTS["account"] else DEFAULTS["payee_state"]
        if name == "GET /api/dids/lookup" and body["credentialId"] in self.records:
            return self.records[body["credentialId"]]
        return _filled(DEFAULTS["answers"][name], body)

    def _own_state(self):
        x, y = self.key if self.nonce else ("0x0", "0x0")
        did = FACTS["did_hash"] if self.registered else ZEROS
        return {"nonce": str(self.nonce), "did": did, "isActive": self.registered, "pubKeyX": x, "pubKeyY": y}

    def _result(self, name, params):
        if name == "bundler eth_sendUserOperation":
            return self.signed[-1]
        if name == "bundler eth_getUserOperationReceipt":
            return self.receipt(params[0]) if params[0] in self.mined else None
        return DEFAULTS["answers"][name]

    def receipt(self, operation_hash):
        """Return the receipt of an operation that was mined."""
        place = {"transactionHash": FACTS["transaction"], "blockNumber": "0x7", "blockHash": ZEROS}
        receipt = {**place, "status": "0x1", "gasUsed": "0x9", "logs": []}
        gas = {"actualGasUsed": "0x5", "actualGasCost": "0x6", "logs": []}
        return {"userOpHash": operation_hash, "success": True, "receipt": receipt, **gas}


def _filled(value, body):
    """Return a default with the request's fields in place of `$field`."""
    if isinstance(value, dict):
        return {name: _filled(it, body) for name, it in value.items()}
    return body.get(value[1:]) if isinstance(value, str) and value.startswith("$") else value
