"""The bill of materials of a release: a CycloneDX 1.6 document about what is shipped or installed with it.

Its components are the Python packages in requirements/run.lock, which the image contains, the npm packages whose code
the JavaScript client's files contain, what else is compiled in (`src/holdfast/THIRD_PARTY.txt`), and the C sources of
the enclave.
"""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import tomllib
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

_LOCKED = re.compile(
    r"^([\w.-]+)==([\w.!+-]+)((?: ;[^\\\n]*)?)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)", re.MULTILINE
)
_HEAD = re.compile(r"^=+\n(\S+) (\S+): (.+)$", re.MULTILINE)
NOTICES = "THIRD_PARTY.txt"
_NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # RFC 9562, namespace of URLs


def bill(root: Path, client: Path) -> str:
    """Return the document for a checkout at `root`, whose JavaScript client was built into `client`."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    compiled = _noticed("pkg:generic/", root / "src" / "holdfast" / NOTICES)
    components = [*_python(root), *_noticed("pkg:npm/", client / NOTICES), *compiled, *_sources(root)]
    purl = f"pkg:pypi/{project['name']}@{project['version']}"
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(_NAMESPACE, purl + json.dumps(components))}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": purl,
                "name": project["name"],
                "version": project["version"],
                "purl": purl,
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": components,
        "dependencies": [{"ref": purl, "dependsOn": [component["bom-ref"] for component in components]}],
    }
    return json.dumps(document, indent=2) + "\n"


def _python(root: Path) -> Iterator[dict[str, Any]]:
    for name, version, marker, _ in _LOCKED.findall((root / "requirements" / "run.lock").read_text("utf-8")):
        found = _component(f"pkg:pypi/{name.lower()}@{version}", name, version)
        if marker:  # the lock file is for all platforms, and this one is installed on some
            found["scope"] = "optional"
        yield found


def _noticed(kind: str, notices: Path) -> Iterator[dict[str, Any]]:
    for name, version, licence in _HEAD.findall(notices.read_text("utf-8")):
        purl = f"{kind}{name.replace('@', '%40')}@{version}"
        yield _component(purl, name, version) | {"licenses": [{"expression": licence}]}


def _sources(root: Path) -> Iterator[dict[str, Any]]:
    """Yield the C sources, each with the archive that it comes from."""
    module = _module(root / "enclave" / "sources.py")
    for source in (module.SQLITE, module.ARGON2, module.RIPEMD160):
        name, _, version = source.requirement.partition("==")
        purl = f"pkg:pypi/{name}@{version}#{source.folder.partition('/')[2]}"
        hashes = [{"alg": "SHA-256", "content": source.sha256}]
        yield _component(purl, source.what, version) | {"hashes": hashes}


def _component(purl: str, name: str, version: str) -> dict[str, Any]:
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def _module(file: Path) -> ModuleType:
    sys.path.insert(0, str(file.parent))  # for its own imports
    spec = importlib.util.spec_from_file_location("enclave_sources", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
