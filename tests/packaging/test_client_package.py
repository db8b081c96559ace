"""The wheel of `holdfast-vault-client` contains only the client, and works with only its own dependencies."""

import json
import os
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import distribution

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.support.clean_tree import ROOT, run
from tests.support.vaults import PASSKEY

from holdfast.cli.exits import Exit
from holdfast.cli.root import COMMANDS

PEOPLE = ("vault", "register", "whoami", "account", "pay", "payments", "balance")
# Libraries of the service and of the extras, which the client must not need and the new environment must not contain.
ABSENT = ("aiohttp", "aiosmtplib", "asyncpg", "eth_keys", "granian", "inngest", "libp2p", "obstore", "uvloop")

SESSION = """
import asyncio, importlib.util, json, sys
import holdfast
from holdfast.client import types

url, credential, folder, absent = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
assert not [name for name in [*absent, "holdfast.service"] if importlib.util.find_spec(name)]
with holdfast.Client(url) as client:
    chain = client.status().chain_id


async def free():
    async with holdfast.AsyncClient(url) as client:
        return (await client.check_session("ada")).available


with holdfast.VaultStore(directory=folder) as store, holdfast.Vault(store) as vault:
    assert vault.boot_status.enclave
    made = vault.generate(types.GenerateInput(credential=credential), holdfast.SecretKey(bytes(range(32))))
    signature = vault.sign(bytes(32)).signature
for name in holdfast.__all__:
    getattr(holdfast, name)
from holdfast.client.handles import canonical_handle
assert canonical_handle("\\u00c4DA") == "\\u00e4da"
print(json.dumps([holdfast.__file__, chain, asyncio.run(free()), made.did, len(signature)]))
"""


@pytest.fixture(scope="module")
def client_wheel(tree, tmp_path_factory):
    folder = tmp_path_factory.mktemp("client-wheel")
    source = tree / "packaging/client"
    run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, source, cwd=folder)
    return next(folder.glob("holdfast_vault_client-*.whl"))


def declared(wheel):
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
    return [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]


def needed(requirements, extras=("",)):
    """Return the distributions that pip would install for these requirements, including all dependencies."""
    found = set()
    open_ends = [(Requirement(text), extras) for text in requirements]
    while open_ends:
        wanted, for_extras = open_ends.pop()
        name = canonicalize_name(wanted.name)
        if name in found or not any(wanted.marker is None or wanted.marker.evaluate({"extra": e}) for e in for_extras):
            continue
        found.add(name)
        more = distribution(name).requires or []
        open_ends += [(Requirement(text), ("", *wanted.extras)) for text in more]
    return found


def show(name, site):
    """Make an installed distribution importable from another site folder."""
    for file in distribution(name).files or []:
        top = file.parts[0]
        if top not in {"..", "__pycache__"} and not (site / top).exists():
            (site / top).symlink_to(distribution(name).locate_file(top))


@pytest.fixture(scope="module")
def installed(client_wheel, tmp_path_factory):
    """A new environment with the wheel and its dependencies, in which no other installed package can be imported."""
    folder = tmp_path_factory.mktemp("client-venv")
    run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    python = folder / "bin/python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    run(*pip, "install", "-q", "--no-deps", "--no-index", client_wheel, cwd=folder)
    site = next(folder.glob("lib/python*/site-packages"))
    for name in needed(declared(client_wheel)):
        show(name, site)
    run(*pip, "check", cwd=folder)  # every requirement is met, in its range
    return folder


def command(installed, *words, **given):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | given
    more = {"env": environment, "cwd": installed, "capture_output": True, "text": True, "timeout": 400}
    return subprocess.run([installed / "bin/holdfast", *words], **more, check=False)


# Runs commands in copies of one process, so that the client is imported once.
EACH = """
import json, os, sys, tempfile
from holdfast.cli import main
import holdfast.cli.root

def ran(words):
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1), os.dup2(err.fileno(), 2)
            sys.argv = ["holdfast", *words]
            main()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0), err.seek(0)
        return [code, out.read(), err.read()]

print(json.dumps([ran(words) for words in json.loads(sys.argv[1])]))
"""


def each(installed, *commands):
    answers = run(installed / "bin/python", "-I", "-c", EACH, json.dumps(commands), cwd=installed)
    return [tuple(answer) for answer in json.loads(answers)]


def test_the_wheel_holds_the_client_and_nothing_of_the_service(client_wheel):
    with zipfile.ZipFile(client_wheel) as archive:
        same = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    rooms = {name.split("/")[1] for name in same if name.count("/") > 1}
    assert rooms == {"chain", "cli", "client", "content", "enclave", "rules", "wire"}
    rules = {name.removeprefix("holdfast/rules/") for name in same if "/rules/" in name}
    assert rules == {"__init__.py", "chains.py", "identifiers.py", "limits.py", "phones.py"}
    assert {"holdfast/THIRD_PARTY.txt", "holdfast/py.typed", "holdfast/enclave/enclave.wasm"} <= same.keys()
    commands = {name.removeprefix("holdfast/cli/").removesuffix(".py") for name in same if "/cli/" in name}
    assert commands & set(COMMANDS) == set(PEOPLE)
    for name, content in same.items():
        assert content == (ROOT / "src" / name).read_bytes(), name


def test_the_requirements_are_those_of_the_main_distribution(client_wheel):
    main = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = main["optional-dependencies"]
    known = {*main["dependencies"], *extras["client"], *extras["p2p"], *extras["world"]}
    own = tomllib.loads((ROOT / "packaging/client/pyproject.toml").read_text())["project"]
    assert {*own["dependencies"], *own["optional-dependencies"]["p2p"], *own["optional-dependencies"]["world"]} <= known
    assert not {name.replace("_", "-") for name in ABSENT} & needed(declared(client_wheel))


def test_it_talks_to_a_service_boots_the_enclave_and_signs(installed, serve, tmp_path):
    url = f"http://127.0.0.1:{serve().port}"
    given = (url, PASSKEY.credential, str(tmp_path / "vault"), *ABSENT)
    answer = json.loads(run(installed / "bin/python", "-I", "-c", SESSION, *given, cwd=tmp_path))
    where, chain, free, did, signature = answer
    assert where.startswith(os.fspath(installed))
    assert (chain, free, signature) == (84532, True, 64)
    assert did.startswith("did:new:0x")


def test_its_commands_are_those_for_people_and_any_other_ends_in_one_line(installed):
    others = [name for name in COMMANDS if name not in PEOPLE]
    told = each(installed, ("--help",), *((name, "--help") for name in PEOPLE), *((name,) for name in others))
    words = [line.split()[0] for line in told[0][1].partition("Commands:")[2].splitlines() if line.strip()]
    assert [word for word in words if word in COMMANDS] == list(PEOPLE)
    assert all((code, err) == (Exit.OK, "") for code, _, err in told[: len(PEOPLE) + 1])
    assert told[len(PEOPLE) + 1 :] == [
        (Exit.CONFIGURATION, "", f"holdfast: {name} is not part of holdfast-vault-client, but of holdfast-vault\n")
        for name in others
    ]


def test_a_vault_is_made_and_pairing_over_libp2p_names_its_extra(installed, tmp_path):
    (tmp_path / "credential").write_text(PASSKEY.credential)
    given = {"HOLDFAST_VAULT_DIR": str(tmp_path / "vault"), "HOLDFAST_VAULT_PASSWORD": "correct horse battery staple"}
    made = command(installed, "vault", "create", "--credential", str(tmp_path / "credential"), "--json", **given)
    assert made.returncode == Exit.OK, made.stderr
    assert json.loads(command(installed, "vault", "status", "--json", **given).stdout)["locked"] is True
    paired = command(installed, "vault", "pair", "--libp2p", **given)
    lacking = "libp2p is not installed: pip install 'libp2p<0.9,>=0.8'"
    assert (paired.returncode, paired.stderr) == (Exit.UNAVAILABLE, f"holdfast: Network: {lacking}\n")
