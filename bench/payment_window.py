"""Controls the payment window through a CDP session, because the browser does not list it among its pages."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from bench.chromium import AUTHENTICATOR

if TYPE_CHECKING:
    from playwright.async_api import Browser, CDPSession

PATIENCE_S = 60.0
LOOK_S = 0.005


class SentOperation:
    """The user operation that a page sends: its hash, and when it was first sent, in seconds since 1970."""

    def __init__(self) -> None:
        self.hash, self.sent_at = "", 0.0

    def saw(self, event: dict[str, Any]) -> None:
        """Parse a `Network.requestWillBeSent` event."""
        asked = event["request"]
        if "/api/bundler" not in asked["url"] or "postData" not in asked:
            return
        call = json.loads(asked["postData"])
        if call["method"] == "eth_sendUserOperation":
            self.sent_at = self.sent_at or event["wallTime"]
        elif call["method"] == "eth_getUserOperationReceipt":
            self.hash = call["params"][0]


class PaymentWindow:
    """A payment window, and the user operation that its page sends."""

    def __init__(self, session: CDPSession, target: str) -> None:
        self._session, self._target = session, target
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._count = 0
        self.operation = SentOperation()
        session.on("Target.receivedMessageFromTarget", self._received)

    def _received(self, event: dict[str, Any]) -> None:
        message = json.loads(event["message"])
        if message.get("id") in self._answers:
            self._answers.pop(message["id"]).set_result(message.get("result", message))
        elif message.get("method") == "Network.requestWillBeSent":
            self.operation.saw(message["params"])

    async def command(self, method: str, **params: Any) -> Any:
        """Send a CDP command and wait for its response."""
        return await asyncio.wait_for(await self._send(method, params), PATIENCE_S)

    async def _send(self, method: str, params: dict[str, Any]) -> asyncio.Future[Any]:
        self._count += 1
        future = self._answers[self._count] = asyncio.get_running_loop().create_future()
        text = json.dumps({"id": self._count, "method": method, "params": params})
        await self._session.send("Target.sendMessageToTarget", {"sessionId": self._target, "message": text})
        return future

    async def evaluate(self, expression: str) -> Any:
        """Return the awaited value of an expression, or None if it throws."""
        answer = await self.command("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        return answer.get("result", {}).get("value")

    async def start(self, expression: str) -> None:
        """Run an expression whose result may never arrive, because the window may close first."""
        await self._send("Runtime.evaluate", {"expression": expression})

    async def prepare(self) -> None:
        """Record requests, and add a virtual authenticator, because authenticators are not shared between windows."""
        await self.command("Network.enable")
        await self.command("Emulation.setFocusEmulationEnabled", enabled=True)
        await self.command("WebAuthn.enable", enableUI=False)
        await self.command("WebAuthn.addVirtualAuthenticator", options=AUTHENTICATOR)

    async def until(self, expression: str) -> Any:
        """Wait until an expression is true and return its value. Raises TimeoutError."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                if found := await self.evaluate(expression):
                    return found
                await asyncio.sleep(LOOK_S)


async def payment_window(browser: Browser) -> PaymentWindow:
    """Wait for the window opened by `PaymentRequest.show()`. Raises TimeoutError."""
    session = await browser.new_browser_cdp_session()
    async with asyncio.timeout(PATIENCE_S):
        while True:
            targets = (await session.send("Target.getTargets"))["targetInfos"]
            if window := next((target for target in targets if "/pay/confirm" in target["url"]), None):
                attached = await session.send(
                    "Target.attachToTarget", {"targetId": window["targetId"], "flatten": False}
                )
                return PaymentWindow(session, attached["sessionId"])
            await asyncio.sleep(LOOK_S)
