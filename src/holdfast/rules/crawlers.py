"""The texts for programs that visit the service on their own: search engines and those who look for a contact."""

from __future__ import annotations

from datetime import UTC, datetime

from holdfast.rules.limits import DAY_S

CONTACT_VALID_DAYS = 180  # less than a year, as RFC 9116, section 2.5.5, recommends


def security_text(contact: str, address: str, now: float) -> str:
    """Return the content of security.txt (RFC 9116), which expires 180 days after today's first second in UTC.

    Args:
        contact: a mailto:, https: or tel: address.
        address: the service's public URL.
        now: seconds since the epoch.
    """
    expires = datetime.fromtimestamp((now // DAY_S + CONTACT_VALID_DAYS) * DAY_S, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"Contact: {contact}\nExpires: {expires}\nCanonical: {address}/.well-known/security.txt\n"


def robots_text(*, pages: bool) -> str:
    """Return the content of robots.txt (RFC 9309): only the start page may be read, and nothing without pages."""
    allowed = "Allow: /$\n" if pages else ""
    return f"User-agent: *\n{allowed}Disallow: /\n"
