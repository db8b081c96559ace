"""Puts the exit page together: one HTML file with its script, its style and the enclave, which needs no server."""

from __future__ import annotations

import base64
import hashlib

# Nothing is loaded, and only nodes and bundlers are asked, which the person names.
_POLICY = (
    "default-src 'none'; script-src '{script}' 'wasm-unsafe-eval'; style-src '{style}'; connect-src http: https:; "
    "base-uri 'none'; form-action 'none'"
)


def page(template: str, *, script: str, style: str, enclave: bytes) -> str:
    """Return the page. Scripts and styles other than these two cannot run in it (Content Security Policy)."""
    script = script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    policy = _POLICY.format(script=_hash(script), style=_hash(style))
    parts = {"policy": policy, "style": style, "enclave": base64.b64encode(enclave).decode(), "script": script}
    pieces = template.split("{{")
    return pieces[0] + "".join(parts[name] + rest for name, rest in (piece.split("}}", 1) for piece in pieces[1:]))


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
