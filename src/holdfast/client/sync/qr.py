"""Shows a link as a QR code in the terminal."""

from __future__ import annotations

import io


def qr_text(link: str) -> str:
    """Return the link as a QR code (ISO/IEC 18004) in block characters, with two rows of modules per line of text."""
    import segno

    out = io.StringIO()
    segno.make(link, error="m", micro=False).terminal(out=out, compact=True)
    return out.getvalue()
