"""Builds the mails about recoveries, in English and German: the service does not know a person's language."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING

from holdfast.service.mail.code_mail import CodeMail, template

if TYPE_CHECKING:
    from holdfast.service.mail.code_mail import MailIdentity
    from holdfast.service.mail.port import Notice

_SUBJECTS = {
    "asked": "{host}: someone asks for your account / Jemand möchte Ihr Konto",
    "started": "{host}: your account gets new keys / Ihr Konto bekommt neue Schlüssel",
}


def render_notice(identity: MailIdentity, notice: Notice) -> CodeMail:
    """Return the mail's texts. What is the same about a recovery has the same name."""
    subject = _SUBJECTS[notice.kind].format(host=identity.host)
    until = datetime.fromtimestamp(notice.until, UTC).strftime("%Y-%m-%d %H:%M UTC")
    stop = f"{identity.pages}/vault#stop-recovery={notice.request}" if notice.request else f"{identity.pages}/vault"
    words = {"host": identity.host, "account": notice.account, "until": until, "stop": stop, "subject": subject}
    text = template(f"recovery_{notice.kind}.txt").substitute(words)
    paragraphs = "".join(f"<p>{_with_links(part, stop)}</p>\n" for part in text.strip().split("\n\n"))
    html = template("notice.html").substitute(subject=escape(subject), paragraphs=paragraphs)
    name = "recovery-" + hashlib.sha256(f"{notice.kind} {notice.name}".encode()).hexdigest()[:32]
    return CodeMail(subject, text, html, name)


def _with_links(part: str, address: str) -> str:
    shown = escape(address)
    return escape(part).replace(shown, f'<a href="{shown}">{shown}</a>').replace("\n", "<br>\n")
