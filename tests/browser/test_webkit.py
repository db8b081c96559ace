"""The pages in a real WebKitGTK, which does not support passkeys: the pages must say so.

WebKitGTK is not Safari, which has passkeys, so these tests say nothing about Safari.
"""

import pytest
from tests.support import webkit
from tests.support.vaults import GIVEN, SECRET

from holdfast.client import types
from holdfast.client.blocking.vault import Vault

OBSTACLE = webkit.obstacle()
pytestmark = [pytest.mark.soak, pytest.mark.skipif(OBSTACLE is not None, reason=str(OBSTACLE))]


UNSUPPORTED = "This browser does not support passkeys. Open this page in a current Chrome, Edge, Firefox or Safari."
PASSWORD = "correct horse battery"
PASSKEY_BUTTONS = ", ".join(f'[data-name="{name}"]' for name in ("register", "return", "recover", "who", "passkey"))


@pytest.fixture
def tab(tmp_path):
    with webkit.running(tmp_path) as tab:
        yield tab


def test_a_browser_without_passkeys_is_told_what_to_do(tab, serve, tmp_path):
    address = f"http://localhost:{serve().port}"
    assert tab.run("return [typeof PublicKeyCredential, typeof navigator.credentials]") == ["undefined", "undefined"]
    tab.open(f"{address}/")
    tab.told(UNSUPPORTED)
    assert tab.count('[data-name="copy"]') == 1, "the address is copied to open it elsewhere"
    assert tab.count(PASSKEY_BUTTONS) == 0, "nothing asks for what cannot work"
    tab.shoot("start")
    tab.open(f"{address}/vault")
    tab.told(UNSUPPORTED)
    tab.told("Without a passkey, a backup file or another device brings your vault here")
    assert tab.count(PASSKEY_BUTTONS) == 0
    tab.shoot("none")
    did = backup(tmp_path / "backup.mtrv")
    tab.press("import")
    tab.fill("file", "/tmp/files/backup.mtrv")
    tab.fill("password", PASSWORD)
    tab.press("submit")
    tab.told(did)
    tab.shoot("vault")
    tab.press("lock")
    tab.told(UNSUPPORTED)
    assert tab.count(PASSKEY_BUTTONS) == 0
    tab.shoot("locked")
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
