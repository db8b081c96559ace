"""The codes that a service has sent: the development outbox keeps mails and text messages as files."""

from __future__ import annotations

import re
from pathlib import Path


def codes_to(identifier: str, data: Path) -> list[str]:
    files = sorted((data / "outbox").iterdir())  # their names begin with the time
    texts = [file.read_text() for file in files if file.suffix in {".eml", ".txt"}]
    subjects = [text.partition("Subject:")[2].partition("\n")[0] or text for text in texts if identifier in text]
    return [code for subject in subjects for code in re.findall(r"\b\d{6}\b", subject)[:1]]
