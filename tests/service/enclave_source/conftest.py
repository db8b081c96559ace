"""Makes the tests of enclave sources run on uvloop."""

import uvloop


def pytest_asyncio_loop_factories(config, item):
    """Use uvloop, as the service does."""
    return {"uvloop": uvloop.new_event_loop}
