"""Controls the payment window through a CDP session, because the browser does not list it among its pages."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import Browser, CDPSession
from tests.support.page_visits import SHOTS
from tests.support.passkeys import AUTHENTICATOR
from tests.support.serving import PATIENCE_S

from holdfast.wire.encoding import from_base64url

MAKE_PASSKEY = """(async () => {
  const hf = await import("/client/holdfast.js");
  const key = await hf.passkeyKey(await hf.createPasskey({userName: "window"}));
  return {id: key.id, secret: [...new Uint8Array(key.secret)]};
})()"""


# The focused element, whether a focus outline is drawn around it, and whether it is inside the window.
FOCUSED = """(() => {
  const it = document.activeElement;
  const {outlineStyle, outlineWidth} = getComputedStyle(it);
  const {top, bottom} = it.getBoundingClientRect();
  return {id: it.id, drawn: it.matches(":focus-visible") && outlineStyle !== "none" && outlineWidth !== "0px",
          inside: top >= 0 && bottom <= innerHeight};
})()"""
MOST_STOPS = 20
# For each key, the Windows key code and the text that the key types.
KEYS = {"Tab": (9, ""), "Enter": (13, "\r"), "Space": (32, " ")}
SHIFT = 8
# The origins of all resources that the window's page has loaded.
LOADED = "[...new Set(performance.getEntriesByType('resource').map((it) => new URL(it.name).origin))]"


def key_events(key: str, modifiers: int = 0) -> list[dict[str, Any]]:
    """Return the events for pressing and releasing a key, in the form that CDP's Input.dispatchKeyEvent accepts."""
    code, text = KEYS[key]
    named = {"code": key, "key": text if key == "Space" else key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
    return [{"type": "keyDown", "text": text, **named}, {"type": "keyUp", **named}]


class ConfirmPage:
    def __init__(self, session: CDPSession, target: str) -> None:
        self._session = session
        self._target = target
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._count = 0
        self._authenticator = ""
        self._intercepting: Callable[[str, str], Awaitable[str | None]] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        session.on("Target.receivedMessageFromTarget", self._received)

    def _received(self, event: dict[str, Any]) -> None:
        message = json.loads(event["message"])
        if message.get("id") in self._answers:
            self._answers.pop(message["id"]).set_result(message.get("result", message))
        if message.get("method") == "Fetch.requestPaused":
            task = asyncio.ensure_future(self._intercepted(message["params"]))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def command(self, method: str, **params: Any) -> Any:
        return await asyncio.wait_for(await self._send(method, params), PATIENCE_S)

    async def _send(self, method: str, params: dict[str, Any]) -> asyncio.Future[Any]:
        self._count += 1
        future = self._answers[self._count] = asyncio.get_running_loop().create_future()
        text = json.dumps({"id": self._count, "method": method, "params": params})
        await self._session.send("Target.sendMessageToTarget", {"sessionId": self._target, "message": text})
        return future

    async def evaluate(self, expression: str) -> Any:
        """Return the value of an expression, or None if it throws or the window is between two documents."""
        answer = await self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return answer.get("result", {}).get("value")

    async def intercept(self, handle: Callable[[str, str], Awaitable[str | None]]) -> None:
        """From now on, call `handle` with each request's URL and body; it returns an answer in JSON, or None."""
        self._intercepting = handle
        await self.command("Fetch.enable", patterns=[{"urlPattern": "*/api/*"}])

    async def _intercepted(self, paused: dict[str, Any]) -> None:
        assert self._intercepting
        request, id_ = paused["request"], paused["requestId"]
        answer = await self._intercepting(request["url"], request.get("postData", ""))
        if answer is None:
            await self._send("Fetch.continueRequest", {"requestId": id_})
            return
        kind = [{"name": "Content-Type", "value": "application/json"}]
        body = base64.b64encode(answer.encode()).decode()
        said = {"requestId": id_, "responseCode": 200, "responseHeaders": kind, "body": body}
        await self._send("Fetch.fulfillRequest", said)

    async def click(self, name: str) -> None:
        """Click the element ``name`` without awaiting the result, because the click may close the window first."""
        await self._send("Runtime.evaluate", {"expression": f"document.getElementById('{name}').click()"})

    async def key(self, key: str) -> None:
        """Press and release a key without awaiting the result, because the key may close the window first."""
        for event in key_events(key):
            await self._send("Input.dispatchKeyEvent", event)

    async def focuses(self, name: str, *, backwards: bool = False) -> None:
        """Press Tab, or Shift and Tab, until the element ``name`` is visibly focused."""
        stops: list[str] = []
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            focused = await self.evaluate(FOCUSED)
            if focused["id"] == name:
                assert focused["drawn"] and focused["inside"], focused
                await self.shows("!document.activeElement.ariaDisabled")
                return
            stops.append(focused["id"])
            for event in key_events("Tab", SHIFT if backwards else 0):
                await self.command("Input.dispatchKeyEvent", **event)
        raise AssertionError(f"the keyboard does not reach {name}, only {stops[:MOST_STOPS]}")

    async def picture(self, name: str) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        answer = await self.command("Page.captureScreenshot", format="png")
        (SHOTS / f"{name}.png").write_bytes(base64.b64decode(answer["data"]))

    async def passkey(self) -> dict[str, Any]:
        """Add an authenticator with a new passkey to this window, and return the passkey's secret."""
        await self.command("Emulation.setFocusEmulationEnabled", enabled=True)
        await self.command("WebAuthn.enable", enableUI=False)
        added = await self.command("WebAuthn.addVirtualAuthenticator", options=AUTHENTICATOR)
        self._authenticator = added["authenticatorId"]
        made: dict[str, Any] = await self.evaluate(MAKE_PASSKEY)
        assert made, "the window made no passkey"
        return made

    async def hides(self, credential_id: str) -> None:
        """Let the authenticator offer a passkey only if it is asked for by name."""
        of, name = {"authenticatorId": self._authenticator}, from_base64url(credential_id)
        all_of_them = (await self.command("WebAuthn.getCredentials", **of))["credentials"]
        hidden = next(it for it in all_of_them if from_base64url(it["credentialId"]) == name)
        await self.command("WebAuthn.removeCredential", **of, credentialId=hidden["credentialId"])
        kept = {name: hidden[name] for name in ("credentialId", "rpId", "privateKey", "signCount")}
        await self.command("WebAuthn.addCredential", **of, credential={**kept, "isResidentCredential": False})

    async def shows(self, expression: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if await self.evaluate(f"Boolean({expression})"):
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"never true: {expression}; page says {await self.evaluate('document.body.innerText')}")


class Held:
    """Holds the window's signed operation, or other requests, back until they are released."""

    def __init__(self, part: str) -> None:
        self.reached, self.released, self._part = asyncio.Event(), asyncio.Event(), part

    @classmethod
    async def of(cls, window: ConfirmPage, part: str = "eth_sendUserOperation") -> Held:
        held = cls(part)
        await window.intercept(held.handle)
        return held

    async def handle(self, url: str, body: str) -> None:
        if self._part in url + body:
            self.reached.set()
            await self.released.wait()


async def confirm_page(browser: Browser) -> ConfirmPage:
    session = await browser.new_browser_cdp_session()
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if window := await _target(session):
            attached = await session.send("Target.attachToTarget", {"targetId": window["targetId"], "flatten": False})
            return ConfirmPage(session, attached["sessionId"])
        await asyncio.sleep(0.05)
    raise AssertionError("the payment window did not open")


async def no_confirm_page(browser: Browser) -> None:
    """Wait until no payment window is open, so that no later test takes one for its own."""
    session = await browser.new_browser_cdp_session()
    deadline = time.monotonic() + PATIENCE_S
    while await _target(session):
        assert time.monotonic() < deadline, "the payment window does not close"
        await asyncio.sleep(0.05)


async def _target(session: CDPSession) -> dict[str, Any] | None:
    targets = (await session.send("Target.getTargets"))["targetInfos"]
    return next((target for target in targets if "/pay/confirm" in target["url"]), None)
