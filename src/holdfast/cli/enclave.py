"""`holdfast enclave publish` and `holdfast enclave verify`."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from holdfast.cli.exits import Exit
from holdfast.cli.output import confirm, emit, fail, require_answer
from holdfast.cli.settings import AsJson, EnvFile, settings_or_fail

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.service.enclave_source.address import ObjectAddress

T = TypeVar("T")
app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)

Module = Annotated[Path | None, typer.Argument(metavar="[FILE]", show_default=False)]
Expected = Annotated[str | None, typer.Option("--sha256", metavar="HEX", help="Refuse a module with another digest.")]
Yes = Annotated[bool, typer.Option("--yes", help="Publish without asking.")]


@app.callback(help="The published enclave: put one where services fetch it, or check one.")
def _group() -> None:
    """Group of both commands."""


@app.command()
def publish(
    file: Module = None, expected: Expected = None, yes: Yes = False, env_file: EnvFile = None, as_json: AsJson = False
) -> None:
    """Publish FILE (by default the bundled enclave) at HOLDFAST_ENCLAVE_URL.

    The module is first checked as services check it. Services ignore a module that lacks an export or a function of the
    bundled copy, has a different ABI version, or fails the self-test. The new module replaces the published one
    completely, and is read back and compared. The module's SHA-256 is printed, and written next to the module as
    NAME.sha256. Services fetch the new module within a minute. The credentials are read from the cloud's usual
    environment variables and must allow writing.

    Exits with 1 for an unusable module, 3 without HOLDFAST_ENCLAVE_URL, 4 if storage cannot be written, 5 if FILE does
    not exist.
    """
    address = _address_or_fail(env_file, as_json=as_json)
    body = _read(file, as_json=as_json)
    require_answer(yes=yes, as_json=as_json)
    value = _judged(body, expected, as_json=as_json)
    confirm(
        f"Publish {value['bytes']} bytes, sha256 {value['sha256']}, for every service there?", yes=yes, as_json=as_json
    )
    from holdfast.service.enclave_source.object_storage import publish as put

    _tried(lambda: put(address, body), as_json=as_json)
    emit({**value, "published": True}, f"published: {value['bytes']} bytes, sha256 {value['sha256']}", as_json=as_json)


@app.command()
def verify(file: Module = None, expected: Expected = None, env_file: EnvFile = None, as_json: AsJson = False) -> None:
    """Check FILE, or else the enclave at HOLDFAST_ENCLAVE_URL, as a service does before serving it.

    Prints the module's size, SHA-256, ABI version and number of functions, and whether it is the bundled copy. The
    module must match the digest that is published with it. Changes nothing.

    Exits with 0 for a usable module, 1 for an unusable one, 3 if neither FILE nor HOLDFAST_ENCLAVE_URL is given, 4 if
    storage cannot be read, 5 if the file or object does not exist.
    """
    if file is not None:
        body, stated = _read(file, as_json=as_json), None
    else:
        from holdfast.service.enclave_source.object_storage import published

        address = _address_or_fail(env_file, as_json=as_json)
        body, stated = _tried(lambda: published(address), as_json=as_json)
    if stated is not None and stated != hashlib.sha256(body).hexdigest():
        fail(Exit.FAILED, "the digest published with the enclave does not match it: publish again", as_json=as_json)
    value = _judged(body, expected, as_json=as_json)
    emit(value, _text(value), as_json=as_json)


def _judged(body: bytes, expected: str | None, *, as_json: bool) -> dict[str, Any]:
    """Check the module and return what to print about it. Exits with FAILED if the module is unusable."""
    from holdfast.service.enclave_source.bundled import bundled_enclave
    from holdfast.service.enclave_source.contract import Unusable, contract_of

    digest = hashlib.sha256(body).hexdigest()
    if expected is not None and digest != expected.strip().lower():
        fail(Exit.FAILED, f"the module's sha256 is {digest}, not the expected one", as_json=as_json)
    bundled = bundled_enclave()
    try:
        contract = contract_of(body)
        if body != bundled:
            contract.require_all_of(contract_of(bundled))
    except Unusable as error:
        fail(Exit.FAILED, str(error).replace("the published enclave", "the module"), as_json=as_json)
    functions = len(contract.functions)
    return {
        "bytes": len(body), "sha256": digest, "abi": contract.abi, "functions": functions, "bundled": body == bundled,
    }  # fmt: skip


def _text(value: dict[str, Any]) -> str:
    same = "; the copy that came with this release" if value["bundled"] else ""
    return (
        f"usable: {value['bytes']} bytes, sha256 {value['sha256']}, ABI {value['abi']},"
        f" {value['functions']} functions{same}"
    )


def _address_or_fail(env_file: str | None, *, as_json: bool) -> ObjectAddress:
    from holdfast.service.enclave_source.address import parse_address

    url = settings_or_fail(env_file, as_json=as_json).enclave_url
    if not url:
        fail(Exit.CONFIGURATION, "HOLDFAST_ENCLAVE_URL: set it to where services fetch the enclave", as_json=as_json)
    try:
        return parse_address(url)
    except ValueError as error:
        fail(Exit.CONFIGURATION, str(error), as_json=as_json)


def _read(file: Path | None, *, as_json: bool) -> bytes:
    from holdfast.service.enclave_source.bundled import bundled_enclave

    if file is None:
        return bundled_enclave()
    try:
        return file.read_bytes()
    except OSError as error:
        fail(Exit.NOT_FOUND, f"{file}: {error.strerror}", as_json=as_json)


def _tried(work: Callable[[], T], *, as_json: bool) -> T:
    from holdfast.service.enclave_source.contract import Unusable
    from holdfast.service.enclave_source.object_storage import Absent, Unreachable

    try:
        return work()
    except Absent as error:
        fail(Exit.NOT_FOUND, str(error), as_json=as_json)
    except Unreachable as error:
        fail(Exit.UNAVAILABLE, str(error), as_json=as_json)
    except Unusable as error:
        fail(Exit.FAILED, str(error), as_json=as_json)
