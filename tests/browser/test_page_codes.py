"""Registration with an e-mail address or a phone number, and the code that is sent there."""

from tests.support.outboxes import codes_to
from tests.support.page_visits import Visit, new_name

CODE = '[name="code"]'


async def test_an_address_and_its_second_passkey_are_registered_with_codes(browser, shared):
    visit, address = await Visit.of(browser, shared), f"{new_name()}@example.com"
    await visit.choose("email", address, then="passkey")
    await visit.press("create", then="prove")
    await visit.page.locator(CODE).wait_for()
    (code,) = codes_to(address, shared.data)
    await uses_up_the_tries(visit, code)
    await visit.page.clock.fast_forward(31_000)  # until a new code may be requested
    await visit.page.locator('[data-name="resend"]:enabled').wait_for()
    assert await visit.text('[data-name="left"]') == "", "a code without tries has no time left"
    await visit.press("resend")
    await visit.told("It works for", '[data-name="left"]')
    _, code = codes_to(address, shared.data)
    await visit.fill("code", f"Your code is {code[:3]} {code[3:]}.")
    await visit.screen("safety")
    await visit.told(address)
    with shared.client() as client:
        status = client.get("/api/verify/status", params={"identifier": address, "channel": "email"}).json()
    assert status["verified"] is True
    await adds_a_passkey(visit, address)
    assert visit.complaints == []


async def uses_up_the_tries(visit, code):
    """Enter too few digits, which is no try, and then five wrong codes."""
    await visit.page.clock.install()
    await visit.told("It works for", '[data-name="left"]')
    await visit.submit(code="12 34")
    await visit.told("A code has six digits. This has fewer.")
    for tries in (4, 3, 2, 1, 0):
        await visit.fill("code", f"{(int(code) + tries + 1) % 1_000_000:06d}")
        await visit.told(f"That code is not right. {tries} tr" if tries else "Too many tries.")
        assert await visit.page.evaluate("document.activeElement.name") == "code"
        if tries == 4:
            await visit.inspect("prove-wrong")


async def adds_a_passkey(visit, address):
    """Add a second passkey, of which the service is told later, with one more code."""
    await visit.press("later", then="home")
    await visit.authenticator.remove()
    await visit.authenticator.add()
    await visit.press("add")
    await visit.page.locator(CODE).wait_for()
    await visit.inspect("prove-passkey")
    await visit.press("prove-later")
    await visit.told("The service does not know this passkey yet.", '[data-card="passkeys"]')
    (second,) = await visit.authenticator.credentials()
    await visit.press("register-passkey")
    await visit.page.locator(CODE).wait_for()
    await visit.fill("code", codes_to(address, visit.server.data)[3])
    await visit.told("The service knows the passkey now.", "#status")
    did = await visit.text('[data-name="did"]')
    assert await visit.page.locator('[data-name="register-passkey"]').count() == 0
    credential = second["credentialId"].replace("+", "-").replace("/", "_").rstrip("=")
    with visit.server.client() as client:
        found = client.get("/api/dids/lookup", params={"credentialId": credential}).json()
    assert found["found"] is True and found["did"] == did and found["identifier"] == address
