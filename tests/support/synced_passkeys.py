"""A passkey that a password manager brought to another browser profile.

The DevTools protocol carries a virtual authenticator's credential, but not the secret behind its PRF extension, which a
password manager syncs too. So the first profile's page notes the PRF's result, and the second one's answers with it; the
ceremony itself, the user handle and the signature are the authenticator's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.passkeys import Authenticator

if TYPE_CHECKING:
    from playwright.async_api import Page

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
    """From its next document on, the page notes what the PRF gives."""
    await page.add_init_script(_NOTING)


async def exported(page: Page, authenticator: Authenticator) -> tuple[dict[str, Any], list[int]]:
    """The authenticator's only credential, and the secret that the page saw."""
    (credential,) = await authenticator.credentials()
    return credential, await page.evaluate("window.prfSeen")


async def synced(page: Page, credential: dict[str, Any], secret: list[int], **changes: Any) -> Authenticator:
    """An authenticator with that credential, for a page that has loaded no document yet."""
    await page.add_init_script(_ANSWERING.replace("SECRET", str(secret)))
    authenticator = await Authenticator.of(page, **changes)
    await authenticator.send("addCredential", credential=credential)
    return authenticator
