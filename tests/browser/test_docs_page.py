"""/docs in a browser: a reader sends a request with other values, and the page fits a narrow window."""

from tests.support.page_visits import Visit, new_name


async def test_a_reader_sends_requests(browser, shared):
    visit, name = await Visit.of(browser, shared, "/docs"), new_name()
    asked = visit.page.locator("#check_session")
    await asked.locator("summary").click()
    await asked.get_by_label("identifier").fill(name)
    await asked.get_by_role("button", name="Send").click()
    await asked.locator("output", has_text='"available": true').wait_for()
    opened = visit.page.locator("#create_session")
    await opened.locator("summary").click()
    await opened.get_by_label("Body").fill('{"identifier": "a b", "channel": "handle"}')
    await opened.get_by_role("button", name="Send").click()
    await opened.locator("output", has_text="400 application/json").wait_for()
    await visit.inspect("docs")
    assert visit.complaints == []
