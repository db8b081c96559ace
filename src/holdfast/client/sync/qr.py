"""A link as a QR code in the terminal."""

from __future__ import annotations

import io


def qr_text(link: str) -> str:
    """The link as a QR code of block characters (ISO/IEC 18004), two modules a line."""
    import segno

    out = io.StringIO()
    segno.make(link, error="m", micro=False).terminal(out=out, compact=True)
    return out.getvalue()
