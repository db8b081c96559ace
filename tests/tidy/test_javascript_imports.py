"""The import rules for the JavaScript client, applied to a tree that breaks each of them."""

import subprocess
from pathlib import Path

from holdfast.world.node import folder as node_folder

BROWSER = Path(__file__).resolve().parents[2] / "browser"
ON_DEMAND = 'export const load = () => import("{}");'
STATIC = 'import "{}";'
BROKEN = {
    "errors.js": "",
    # allowed: downwards and in the own room
    "client.js": STATIC.format("./http/service.js") + ON_DEMAND.format("./flows/pay.js"),
    "http/service.js": STATIC.format("./retries.js") + STATIC.format("../errors.js"),
    "http/retries.js": "",
    "flows/pay.js": STATIC.format("../chain/calls.js"),
    "chain/calls.js": "",
    # refused; of a circle, one module is named
    "flows/upward.js": STATIC.format("../client.js"),
    "flows/upward_on_demand.js": ON_DEMAND.format("../client.js"),
    "snapshots/sideways.js": STATIC.format("../pairing/other.js"),
    "pairing/other.js": "",
    "vault/one.js": STATIC.format("./two.js"),
    "vault/two.js": STATIC.format("./one.js"),
    "vault/three.js": STATIC.format("./four.js"),
    "vault/four.js": ON_DEMAND.format("./three.js"),
    "cellar/unknown.js": STATIC.format("../errors.js"),
    "chain/lost.js": STATIC.format("./nowhere.js"),
    "passkeys/package.js": STATIC.format("acorn"),
    "../node_modules/acorn/index.js": "",
    "../node_modules/acorn/package.json": '{"name": "acorn", "exports": "./index.js"}',
}
SAYS = {
    "only-below-floor-7: src/flows/upward.js \u2192 src/client.js",
    "only-below-floor-7: src/flows/upward_on_demand.js \u2192 src/client.js",
    "only-below-floor-8: src/snapshots/sideways.js \u2192 src/pairing/other.js",
    "no-circle: src/vault/one.js \u2192",
    "no-circle: src/vault/four.js \u2192",
    "a-floor-for-each-room: src/cellar/unknown.js \u2192 src/errors.js",
    "no-missing-module: src/chain/lost.js \u2192 ./nowhere.js",
    "packages-only-in-bundles: src/passkeys/package.js \u2192 node_modules/acorn",
}


def cruised(where):
    """Return the exit status and the lines about errors, without what follows a path's end."""
    node = node_folder()
    assert node
    program = BROWSER / "node_modules" / "dependency-cruiser" / "bin" / "dependency-cruiser.mjs"
    options = ("--config", BROWSER / "dependencies.config.js", "--output-type", "err", "src")
    words = [node / "bin" / "node", program, *options]
    ran = subprocess.run(words, capture_output=True, text=True, check=False, cwd=where)
    assert not ran.stderr, ran.stderr
    return ran.returncode, {line.strip()[6:].strip() for line in ran.stdout.splitlines() if " error " in line}


def test_everything_that_breaks_a_rule_is_named(tmp_path):
    for name, text in BROKEN.items():
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).write_text(text)
    status, found = cruised(tmp_path)
    assert status == len(SAYS), found
    unnamed = {said for said in SAYS if not any(line.startswith(said) for line in found)}
    assert (unnamed, len(found)) == (set(), len(SAYS)), found
