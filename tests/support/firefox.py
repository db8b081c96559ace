"""A real headless Firefox: Debian's firefox-esr, either installed or downloaded by tools/programs.py."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.children import dying_with_parent
from tests.support.marionette import Marionette
from tests.support.serving import PATIENCE_S, becomes_true

FETCHED = Path(__file__).resolve().parents[2] / ".setup" / "programs" / "firefox" / "usr"
MAC = Path("/Applications/Firefox.app/Contents/MacOS/firefox")
MISSING = (
    "firefox-esr is not installed (python3 tools/programs.py fetches Debian's): the pages are NOT tried in Firefox"
)
PREFERENCES: dict[str, bool | int | str] = {
    "marionette.port": 0,  # any free port; Firefox writes it into the profile
    "security.webauth.webauthn_enable_softtoken": True,
    "security.webauth.webauthn_enable_usbtoken": False,
    # Nothing listens on this proxy address, which Firefox uses for all hosts except localhost, so no request leaves the
    # machine.
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.share_proxy_settings": True,
    "app.normandy.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "browser.download.folderList": 2,
    "browser.download.useDownloadDir": True,
    "browser.download.always_ask_before_handling_new_types": False,
    "intl.accept_languages": "en",
}


def program() -> str | None:
    fetched = FETCHED / "lib" / "firefox-esr"
    found = shutil.which("firefox-esr") or shutil.which("firefox-esr", path=str(fetched))
    return found or (str(MAC) if MAC.exists() else None)


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Marionette]:
    """Start Firefox with a new profile and stop it afterwards. Downloads are saved to `folder`/downloads."""
    profile = folder / "profile"
    profile.mkdir(parents=True)
    preferences = {**PREFERENCES, "browser.download.dir": str(folder / "downloads")}
    lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items())
    (profile / "user.js").write_text("".join(lines))
    with (folder / "log.txt").open("w") as log:
        process = _started(profile, log)
    try:
        session = _connected(process, profile, folder / "log.txt")
        session.send("WebDriver:NewSession", capabilities={"alwaysMatch": {"unhandledPromptBehavior": "ignore"}})
        yield session
        session.close()
    finally:
        process.kill()
        process.wait(PATIENCE_S)


def _started(profile: Path, log: Any) -> subprocess.Popen[bytes]:
    firefox = program()
    assert firefox, MISSING
    libraries = [str(path) for path in FETCHED.glob("lib/*-linux-gnu*")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("DISPLAY", "WAYLAND"))}
    return subprocess.Popen(
        [firefox, "--marionette", "--remote-allow-system-access", "--headless", "--no-remote", "--profile", str(profile)],
        env={**environment, "HOME": str(profile), "LD_LIBRARY_PATH": os.pathsep.join(libraries)},
        stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        preexec_fn=dying_with_parent(signal.SIGKILL),  # noqa: PLW1509 - one prctl, no locks
    )  # fmt: skip


def _connected(process: subprocess.Popen[bytes], profile: Path, log: Path) -> Marionette:
    written = profile / "MarionetteActivePort"
    found: list[Marionette] = []

    def answers() -> bool:
        assert process.poll() is None, "Firefox did not start:\n" + log.read_text()
        with contextlib.suppress(OSError, ValueError):  # not written yet, or only partly
            found.append(Marionette(int(written.read_text()), PATIENCE_S))
        time.sleep(0.02)
        return bool(found)

    assert becomes_true(answers), "Firefox did not start:\n" + log.read_text()
    return found[0]
