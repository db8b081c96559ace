"""Database URLs: what is passed to the PostgreSQL driver, and what messages reveal."""

import errno

import asyncpg
import pytest

from holdfast.service.store.kinds import database_of
from holdfast.service.store.postgresql.address import parse_address
from holdfast.service.store.postgresql.servers import NotConnected, OlderTimeline, database_words

SEVERAL = "postgresql://user:hunter2@a:5432,b:5432/name?target_session_attrs=read-write"


@pytest.mark.parametrize(("url", "dsn", "location", "pooled", "prepares"), [
    (SEVERAL, SEVERAL, "postgresql://a:5432,b:5432/name", False, True),
    ("postgresql://u@h/n", "postgresql://u@h/n", "postgresql://h/n", False, True),
    ("postgresql://u@h/n?pooler=transaction&sslmode=verify-full", "postgresql://u@h/n?sslmode=verify-full", "postgresql://h/n", True, False),
    ("postgresql://u@h/n?pooler=prepared", "postgresql://u@h/n", "postgresql://h/n", True, True),
    ("postgresql:///name?host=/run/pg", "postgresql:///name?host=/run/pg", "postgresql:///run/pg/name", False, True),
])  # fmt: skip
def test_an_address_without_its_secrets_and_what_a_pooler_means(url, dsn, location, *, pooled, prepares):
    address = parse_address(url)
    assert (address.dsn, address.pooled, address.prepares) == (dsn, pooled, prepares)
    assert address.location == location == database_of(url).location


OPTION, PORT = "//u:hunter2@h/n?", "after a host comes its port"


@pytest.mark.parametrize(("url", "told"), [
    ("", "needed"), ("//", "needed"), ("//u:hunter2@h/n?pooler=session", "needed"), ("mysql://hunter2@h", "needed"),
    (f"{OPTION}sslmode=verify-ful", "^sslmode is one of disable, "),
    (f"{OPTION}target_session_attrs=reed", "^target_session_attrs is one of any, "),
    (f"{OPTION}sslrootcert=/no/such.pem", "^sslrootcert must name "),
    (f"{OPTION}sslmode=verify-full&sslrootcert={__file__}", "^sslrootcert must name "),
    ("//u:hunter2@h:bad/n", PORT), ("//u:hunter2@h:99999/n", PORT), ("//u:hunter2@a:1,[::1]:-2/n", PORT),
    ("///n?host=h&port=5o&u=hunter2", PORT), ("//u:hunter2@h:0/n", PORT), ("//u:hunter2@[2001/n", PORT),
    ("//u:hunter2@a,[b]/n", PORT), ("//u:[hunter2@h/n", PORT),
])  # fmt: skip
def test_what_is_no_address_is_refused_without_its_secrets(url, told):
    """The driver would call a wrong option a lost connection; it reads ports with `int`, so that one was a traceback."""
    with pytest.raises(ValueError, match=told) as refused:
        parse_address(url if "mysql" in url else f"postgresql:{url}")
    assert "hunter2" not in str(refused.value)


WRITES = "target_session_attrs=read-write"


@pytest.mark.parametrize(("url", "servers"), [
    ("//u:p@h/n", ["//u:p@h/n"]),
    ("//u:p@a:1,[::1]:2/n?sslmode=require", [f"//u:p@{at}/n?sslmode=require&{WRITES}" for at in ("a:1", "[::1]:2")]),
    ("//a,b/n?target_session_attrs=any&pooler=transaction", [f"//{at}/n?target_session_attrs=any" for at in "ab"]),
    ("///n?host=a,/run&port=1,2", [f"///n?host={at}&{WRITES}" for at in ("a&port=1", "/run&port=2")]),
    ("///n?host=a,b&port=1", [f"///n?host={at}&port=1&{WRITES}" for at in "ab"]),
    ("//u@/n?host=a,b", [f"//u@/n?host={at}&{WRITES}" for at in "ab"]),
])  # fmt: skip
def test_each_server_has_its_own_address(url, servers):
    assert list(parse_address(f"postgresql:{url}").servers) == [f"postgresql:{server}" for server in servers]


@pytest.mark.parametrize(("error", "words"), [
    (OSError(errno.EHOSTUNREACH, "x"), "no way leads to this address"),
    (asyncpg.InterfaceError("x"), "the connection cannot be used"),
    (asyncpg.ReadOnlySQLTransactionError("x"), "the server is a standby"),
    (asyncpg.DiskFullError("x"), "the server's disk is full"),
    (asyncpg.InvalidPasswordError("x"), "the password is wrong"),
    (asyncpg.DivisionByZeroError("x"), "the server answers with error 22012"),
    (OlderTimeline("x"), "another server was promoted after it"),
    (NotConnected([asyncpg.TooManyConnectionsError("x"), TimeoutError()]), "the server has no connection left, no answer in time"),
    (ValueError("x"), "an unexpected error"),
])  # fmt: skip
def test_why_a_database_failed_is_told_in_words(error, words):
    assert database_words(error) == words
