"""Runs the mailers' tests on uvloop and on asyncio's own event loop."""

import asyncio

import uvloop
from tests.support.soak import SOAK


def pytest_asyncio_loop_factories(config, item):
    """The service runs on uvloop; the SMTP library uses transports, so `make soak` also tests it on asyncio's loop."""
    both = SOAK and item.path.name == "test_smtp_mailer.py"
    return {"uvloop": uvloop.new_event_loop} | ({"asyncio": asyncio.new_event_loop} if both else {})
