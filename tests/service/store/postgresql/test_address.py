"""Database URLs: what is passed to the PostgreSQL driver, and what messages reveal."""

import errno

import asyncpg
import pytest

from holdfast.service.store.kinds import database_of
from holdfast.service.store.postgresql.address import parse_address
from holdfast.service.store.postgresql.servers import NotConnected, OlderTimeline, database_words


def test_an_address_without_its_secrets():
    address = parse_address("postgresql://user:hunter2@a:5432,b:5432/name?target_session_attrs=read-write")
    assert address.dsn == "postgresql://user:hunter2@a:5432,b:5432/name?target_session_attrs=read-write"
    assert (address.location, address.pooled) == ("postgresql://a:5432,b:5432/name", False)


def test_a_pooler_is_for_us_to_know():
    address = parse_address("postgresql://u@h/n?pooler=transaction&sslmode=verify-full")
    assert (address.dsn, address.pooled) == ("postgresql://u@h/n?sslmode=verify-full", True)


@pytest.mark.parametrize(
    ("query", "pooled", "prepares"),
    [("", False, True), ("?pooler=transaction", True, False), ("?pooler=prepared", True, True)],
)
def test_a_pooler_may_follow_prepared_statements(query, *, pooled, prepares):
    address = parse_address(f"postgresql://u@h/n{query}")
    assert (address.dsn, address.pooled, address.prepares) == ("postgresql://u@h/n", pooled, prepares)


def test_a_socket():
    address = parse_address("postgresql:///name?host=/run/postgresql")
    assert address.dsn == "postgresql:///name?host=/run/postgresql"
    assert address.location == "postgresql:///run/postgresql/name"


@pytest.mark.parametrize(
    "url", ["postgresql:", "postgresql://", "postgresql://u:hunter2@h/n?pooler=session", "mysql://hunter2@h"]
)
def test_other_forms_are_refused_without_their_secrets(url):
    with pytest.raises(ValueError, match="needed") as refused:
        parse_address(url)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(("option", "told"), [
    ("sslmode=verify-ful", "^sslmode is one of disable, "), ("target_session_attrs=reed", "^target_session_attrs is one of any, "),
    ("sslrootcert=/no/such.pem", "^sslrootcert must name "), (f"sslmode=verify-full&sslrootcert={__file__}", "^sslrootcert must name "),
])  # fmt: skip
def test_an_option_that_the_driver_would_call_a_lost_connection_is_named(option, told):
    with pytest.raises(ValueError, match=told) as refused:
        parse_address(f"postgresql://u:hunter2@h/n?{option}")
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "//u:hunter2@h:bad/n",
        "//u:hunter2@h:99999/n",
        "//u:hunter2@a:1,[::1]:-2/n",
        "///n?host=h&port=5o&u=hunter2",
        "//u:hunter2@h:0/n",
        "//u:hunter2@[2001/n",
        "//u:hunter2@a,[b]/n",
        "//u:[hunter2@h/n",
    ],
)
def test_a_port_that_is_none_is_refused_without_the_secrets(url):
    """The driver reads ports with `int` and splits the URL, so a mistyped one was a traceback."""
    with pytest.raises(ValueError, match="after a host comes its port") as refused:
        parse_address(f"postgresql:{url}")
    assert "hunter2" not in str(refused.value)


def test_the_kind_is_known():
    assert database_of("postgresql://u:hunter2@h/n").location == "postgresql://h/n"


@pytest.mark.parametrize(
    ("url", "servers"),
    [
        ("postgresql://u:p@h/n", ["postgresql://u:p@h/n"]),
        (
            "postgresql://u:p@a:1,[::1]:2/n?sslmode=require",
            [
                "postgresql://u:p@a:1/n?sslmode=require&target_session_attrs=read-write",
                "postgresql://u:p@[::1]:2/n?sslmode=require&target_session_attrs=read-write",
            ],
        ),
        (
            "postgresql://a,b/n?target_session_attrs=any&pooler=transaction",
            ["postgresql://a/n?target_session_attrs=any", "postgresql://b/n?target_session_attrs=any"],
        ),
        (
            "postgresql:///n?host=a,/run&port=1,2",
            [
                "postgresql:///n?host=a&port=1&target_session_attrs=read-write",
                "postgresql:///n?host=/run&port=2&target_session_attrs=read-write",
            ],
        ),
        (
            "postgresql:///n?host=a,b&port=1",
            [
                "postgresql:///n?host=a&port=1&target_session_attrs=read-write",
                "postgresql:///n?host=b&port=1&target_session_attrs=read-write",
            ],
        ),
        (
            "postgresql://u@/n?host=a,b",
            [
                "postgresql://u@/n?host=a&target_session_attrs=read-write",
                "postgresql://u@/n?host=b&target_session_attrs=read-write",
            ],
        ),
    ],
)
def test_each_server_has_its_own_address(url, servers):
    assert list(parse_address(url).servers) == servers


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.EHOSTUNREACH, "x"), "no way leads to this address"),
        (asyncpg.InterfaceError("x"), "the connection cannot be used"),
        (asyncpg.ReadOnlySQLTransactionError("x"), "the server is a standby"),
        (asyncpg.DiskFullError("x"), "the server's disk is full"),
        (asyncpg.InvalidPasswordError("x"), "the password is wrong"),
        (asyncpg.DivisionByZeroError("x"), "the server answers with error 22012"),
        (OlderTimeline("x"), "another server was promoted after it"),
        (
            NotConnected([asyncpg.TooManyConnectionsError("x"), TimeoutError()]),
            "the server has no connection left, no answer in time",
        ),
        (ValueError("x"), "an unexpected error"),
    ],
)
def test_why_a_database_failed_is_told_in_words(error, words):
    assert database_words(error) == words
