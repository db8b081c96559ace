"""The UCAN commands of the tokens that the service takes."""

from __future__ import annotations

REGISTER = "/dids/register"
WRITE = "/snapshots/write"
PUBLISH = "/snapshots/publish"
REVOKE = "/ucan/revoke"
EXPORT = "/person/export"
REMOVE = "/person/remove"
ADD = "/person/add"
