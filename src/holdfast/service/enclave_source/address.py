"""Where the published enclave is stored: the location in `HOLDFAST_ENCLAVE_URL`."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.service.object_folder import Folder, parse_folder

SETTING = "HOLDFAST_ENCLAVE_URL"
OBJECT = "enclave.wasm"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class ObjectAddress(Folder):
    """An object in a folder; `name` is the object's name."""

    name: str


def parse_address(url: str) -> ObjectAddress:
    """Return the object that the URL names; unless it ends in `.wasm`, `enclave.wasm` in the folder that it names.

    Raises:
        ValueError: the URL has another form; the message does not repeat it.
    """
    found = parse_folder(SETTING, url)
    folder, name = found.folder, OBJECT
    if found.folder.endswith(".wasm"):
        folder, _, name = found.folder.rpartition("/")
    return ObjectAddress(
        scheme=found.scheme, folder=folder, options=found.options, allow_http=found.allow_http, name=name
    )
