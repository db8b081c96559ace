"""The pages in a real WebKitGTK, which does not support passkeys: the pages must say so.

WebKitGTK is not Safari, which has passkeys, so these tests say nothing about Safari. It runs on a virtual display (Debian's
webkit2gtk-driver and Xvfb), and looks for its helper programs below /usr: a copy downloaded by tools/programs.py runs in a
mount namespace, in which the copy overlays /usr. The namespace has its own /tmp and process IDs, so nothing remains
afterwards.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import httpx2
import pytest
from tests.support.children import dying_with_parent
from tests.support.serving import PATIENCE_S, becomes_true
from tests.support.vaults import GIVEN, SECRET

from holdfast.client import types
from holdfast.client.blocking.vault import Vault
from holdfast.world.processes import free_port

FETCHED = Path(__file__).resolve().parents[2] / ".setup" / "programs" / "webkit"
PROGRAMS = ("WebKitWebDriver", "Xvfb")
NAMESPACES = ("unshare", "--map-root-user", "--mount", "--mount-proc", "--pid", "--fork", "--kill-child")
# The arguments are the folder to lay over /usr (or an empty string), the driver's port, and the folder that the browser
# may read.
MOUNTS = """
set -eu
if [ -n "$1" ]; then mount -t overlay overlay -o "lowerdir=$1:/usr" /usr; fi
cd "$3"  # reaches the folder when a new /tmp covers it
mount -t tmpfs tmpfs /tmp
mkdir -p /tmp/files
mount --no-canonicalize --bind . /tmp/files
"""
SCRIPT = f"""{MOUNTS}
Xvfb -displayfd 3 -screen 0 1400x1000x24 -nolisten tcp -nolisten local 3>/tmp/display &
while [ ! -s /tmp/display ]; do kill -0 $! || exit 1; sleep 0.05; done
DISPLAY=":$(cat /tmp/display)" HOME=/tmp exec WebKitWebDriver "--port=$2"
"""


def obstacle():
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), str(FETCHED / "usr" / "bin")])
    if missing := [name for name in PROGRAMS if not shutil.which(name, path=places)]:
        return f"{', '.join(missing)} missing (python3 tools/programs.py fetches Debian's): the pages are NOT tried in WebKitGTK"
    try:
        subprocess.run(_command(MOUNTS, 0, Path(__file__).parent), check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return "mount namespaces are not allowed here: the pages are NOT tried in WebKitGTK"
    return None


class WebKitTab:
    def __init__(self, driver):
        self._driver = driver
        self._session = ""
        asked = {
            "capabilities": {
                "alwaysMatch": {"webkitgtk:browserOptions": {"binary": _browser(), "args": ["--automation"]}}
            }
        }
        self._session = f"/session/{self._send('/session', asked)['sessionId']}"
        self._send("/timeouts", {"implicit": PATIENCE_S * 1000, "script": PATIENCE_S * 1000})

    def open(self, address):
        self._send("/url", {"url": address})

    def run(self, script, *given):
        return self._send("/execute/sync", {"script": script, "args": given})

    def told(self, words):
        shown = "return document.querySelector('main')?.textContent ?? ''"
        assert becomes_true(lambda: words in self.run(shown)), (words, self.run(shown))

    def press(self, name):
        self._send(self._element(f'main [data-name="{name}"]') + "/click", {})

    def fill(self, field, value):
        """Type into a field; for a file field, the text is a path."""
        self._send(self._element(f'[name="{field}"]') + "/value", {"text": value})

    def count(self, selector):
        return self.run("return document.querySelectorAll(arguments[0]).length", selector)

    def _element(self, selector):
        (element,) = self._send("/element", {"using": "css selector", "value": selector}).values()
        return f"/element/{element}"

    def _send(self, path, body):
        answer = self._driver.post(self._session + path, json=body)
        assert answer.is_success, answer.text
        return answer.json()["value"]


@contextlib.contextmanager
def running(folder):
    """Run WebKitGTK, which sees `folder` as /tmp/files, and stop it afterwards."""
    log = folder / "webkit.txt"
    port = free_port()
    with log.open("w") as output:
        process = subprocess.Popen(
            _command(SCRIPT, port, folder),
            env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8", "LIBGL_ALWAYS_SOFTWARE": "1"},
            stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            preexec_fn=dying_with_parent(signal.SIGTERM),  # noqa: PLW1509 - one prctl, no locks
        )  # fmt: skip
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as driver:
            _wait(process, driver, log)
            yield WebKitTab(driver)
    finally:
        process.kill()
        process.wait(PATIENCE_S)


def _command(script, port, folder):
    over_usr = str(FETCHED / "usr") if (FETCHED / "usr").exists() else ""
    return [*NAMESPACES, "sh", "-c", script, "sh", over_usr, str(port), str(folder)]


def _browser():
    """Return a program's path inside the namespace, which is below /usr whether downloaded or installed."""
    roots = [FETCHED, Path("/")]
    found = next(path for root in roots for path in root.glob("usr/lib/*/webkit2gtk-4.*/MiniBrowser"))
    return "/" + str(found.relative_to(FETCHED if found.is_relative_to(FETCHED) else "/"))


def _wait(process, driver, log):
    def answers():
        assert process.poll() is None, "WebKitGTK did not start:\n" + log.read_text()
        with contextlib.suppress(httpx2.TransportError):
            return driver.get("/status").is_success
        time.sleep(0.02)
        return False

    assert becomes_true(answers), "WebKitGTK did not start:\n" + log.read_text()


OBSTACLE = obstacle()
pytestmark = [pytest.mark.soak, pytest.mark.skipif(OBSTACLE is not None, reason=str(OBSTACLE))]


UNSUPPORTED = "This browser does not support passkeys. Open this page in a current Chrome, Edge, Firefox or Safari."
PASSWORD = "correct horse battery"
PASSKEY_BUTTONS = ", ".join(f'[data-name="{name}"]' for name in ("register", "return", "recover", "who", "passkey"))


@pytest.fixture
def tab(tmp_path):
    with running(tmp_path) as tab:
        yield tab


def test_a_browser_without_passkeys_is_told_what_to_do(tab, serve, tmp_path):
    address = f"http://localhost:{serve().port}"
    assert tab.run("return [typeof PublicKeyCredential, typeof navigator.credentials]") == ["undefined", "undefined"]
    tab.open(f"{address}/")
    tab.told(UNSUPPORTED)
    assert tab.count('[data-name="copy"]') == 1, "the address is copied to open it elsewhere"
    assert tab.count(PASSKEY_BUTTONS) == 0, "nothing asks for what cannot work"
    tab.open(f"{address}/vault")
    tab.told(UNSUPPORTED)
    tab.told("Without a passkey, a backup file or another device brings your vault here")
    assert tab.count(PASSKEY_BUTTONS) == 0
    did = backup(tmp_path / "backup.mtrv")
    tab.press("import")
    tab.fill("file", "/tmp/files/backup.mtrv")
    tab.fill("password", PASSWORD)
    tab.press("submit")
    tab.told(did)
    tab.press("lock")
    tab.told(UNSUPPORTED)
    assert tab.count(PASSKEY_BUTTONS) == 0
    tab.press("use-password")
    tab.fill("password", PASSWORD)
    tab.press("submit")
    tab.told(did)
    tab.open(f"{address}/")
    tab.told("There is a vault in this browser.")


def backup(file):
    """Write the backup file of a new vault; return its DID."""
    with Vault() as vault:
        did = vault.generate(GIVEN, SECRET).did
        exported = vault.export(types.VaultExportOptions(password=PASSWORD))
    file.write_bytes(exported.data)
    return did
