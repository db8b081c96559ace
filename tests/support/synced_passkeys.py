"""Simulates a passkey that a password manager has synced to another browser profile.

The DevTools protocol exports a virtual authenticator's credential, but not the PRF secret, which a password manager
would also sync. Therefore the page in the first profile records the PRF output, and the page in the second profile
returns it; everything else comes from the authenticator.
"""

from __future__ import annotations

from typing import Any

from playwright.async_api import Page
from tests.support.passkeys import Authenticator

_NOTING = """
(() => {
  const real = PublicKeyCredential.prototype.getClientExtensionResults;
  PublicKeyCredential.prototype.getClientExtensionResults = function () {
    const results = real.call(this);
    const first = results.prf?.results?.first;
    if (first) window.prfSeen = [...new Uint8Array(first)];
    return results;
  };
})()
"""
_ANSWERING = """
(() => {
  const real = PublicKeyCredential.prototype.getClientExtensionResults;
  PublicKeyCredential.prototype.getClientExtensionResults = function () {
    return {...real.call(this), prf: {results: {first: Uint8Array.from(SECRET).buffer}}};
  };
})()
"""


async def note_secret(page: Page) -> None:
    """Make the page record PRF outputs, starting with the next document."""
    await page.add_init_script(_NOTING)


async def exported(page: Page, authenticator: Authenticator) -> tuple[dict[str, Any], list[int]]:
    """Return the authenticator's only credential and the secret that the page recorded."""
    (credential,) = await authenticator.credentials()
    return credential, await page.evaluate("window.prfSeen")


def answering(secret: list[int]) -> str:
    """Return a script with which a document gets this PRF output from every authenticator."""
    return _ANSWERING.replace("SECRET", str(secret))


async def synced(page: Page, credential: dict[str, Any], secret: list[int], **changes: Any) -> Authenticator:
    """Return an authenticator with the synced credential, for a page that has not loaded a document yet."""
    await page.add_init_script(answering(secret))
    authenticator = await Authenticator.of(page, **changes)
    await authenticator.send("addCredential", credential=credential)
    return authenticator
