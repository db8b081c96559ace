"""The pairing server, run in Node, accepts each message once, in the right order, and for a single session."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.javascript import run_module

# A fake vault that responds as the enclave does; `typed` are the digits that the person reads on the other device.
CODE = """
  const { PairingServer } = await import("SOURCES/pairing/protocol.js");
  const { PluginCallError } = await import("SOURCES/errors.js");
  const asked = [];
  const vault = {
    async syncRespond(session, options) {
      asked.push(options.publicKey ? "respond" : "seal");
      if (given.enclave === "throws") throw new PluginCallError("sync_respond", "expired", "expired");
      if (given.enclave === "refuses") return {success: false, error: "digits_differ"};
      return options.publicKey ? {success: true, public_key: "03old"} : {success: true, encrypted_vault: "c2VhbGVk", sealed_vault: "c2VhbGVk"};
    },
    async syncCompare() {
      asked.push("compare");
      return {success: true, code: "123456"};
    },
  };
  const shown = [];
  const server = new PairingServer(vault, async (digits) => {
    shown.push(digits);
    return given.typed ?? "123456";
  });
  const answers = given.together
    ? await Promise.all(given.messages.map((it) => server.handle(it)))
    : [];
  if (!given.together) for (const it of given.messages) answers.push(await server.handle(it));
  return {answers, asked, shown, finished: server.finished, released: server.released};
"""
HELLO = {"step": "hello", "session_id": "s", "public_key": "02new"}
REVEAL = {"step": "reveal", "session_id": "s", "reveal": "r"}
REFUSED = {"error": "refused"}


def answered(*messages: Any, **given: Any) -> dict[str, Any]:
    result: dict[str, Any] = run_module(CODE, {"messages": list(messages), **given})
    return result


def test_the_vault_is_given_after_the_digits() -> None:
    done = answered(HELLO, REVEAL)
    hello, last = done["answers"]
    assert hello["public_key"] == "03old" and last["encrypted_vault"] == "c2VhbGVk"
    assert done["asked"] == ["respond", "compare", "seal"] and done["shown"] == ["123456"]
    assert done["finished"] and done["released"]


def test_a_person_who_refuses_gives_nothing() -> None:
    done = answered(HELLO, REVEAL, typed="")
    assert done["answers"][1] == REFUSED and "seal" not in done["asked"]
    assert done["finished"] and not done["released"]


@pytest.mark.parametrize(
    "messages",
    [
        (REVEAL,),
        (HELLO, HELLO),
        (HELLO, {**REVEAL, "session_id": "other"}),
        (HELLO, {**REVEAL, "reveal": ""}),
        (HELLO, {"step": "release", "session_id": "s"}),
        ({**HELLO, "public_key": 5},),
        ({**HELLO, "session_id": ""},),
        ({"session_id": "s"},),
        ({"step": ["hello"], "session_id": "s"},),
    ],
)
def test_a_message_out_of_turn_ends_the_pairing(messages: tuple[dict[str, Any], ...]) -> None:
    done = answered(*messages, HELLO, REVEAL)
    assert done["answers"][len(messages) - 1 :] == [REFUSED] * 3, "nothing follows a refused message"
    assert "seal" not in done["asked"] and done["finished"] and not done["released"]


def test_after_the_vault_was_given_nothing_more_is_answered() -> None:
    done = answered(HELLO, REVEAL, REVEAL, HELLO)
    assert done["answers"][2:] == [REFUSED] * 2 and done["asked"].count("seal") == 1 and done["released"]


def test_a_message_that_comes_while_another_one_is_answered_is_refused() -> None:
    done = answered(HELLO, HELLO, together=True)
    assert done["answers"][1] == REFUSED and done["asked"] == ["respond"]
    assert not done["finished"], "the first one goes on"


@pytest.mark.parametrize("enclave", ["throws", "refuses"])
def test_what_the_enclave_refuses_is_refused_without_a_reason(enclave: str) -> None:
    done = answered(HELLO, enclave=enclave)
    assert done["answers"] == [REFUSED] and done["finished"] and not done["released"]
