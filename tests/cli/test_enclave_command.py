"""`holdfast enclave publish` and `holdfast enclave verify`: checked before, read back after, one exit code each."""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.support.modules import standing_in
from tests.support.soak import amount

from holdfast.cli.exits import Exit
from holdfast.enclave.module import bundled


@pytest.fixture
def place(tmp_path):
    """A folder that stands in for an object storage service."""
    (tmp_path / "storage").mkdir()
    return tmp_path / "storage"


def test_what_is_published_can_be_verified_and_served(holdfast, place):
    digest = hashlib.sha256(bundled().read_bytes()).hexdigest()
    done = holdfast("enclave", "publish", "--yes", "--json", "--sha256", digest, enclave_url=place.as_uri())
    assert done.code == Exit.OK, done.err
    assert (done.value["sha256"], done.value["published"], done.value["abi"]) == (digest, True, 1)
    assert sorted(file.name for file in place.iterdir()) == ["enclave.wasm", "enclave.wasm.sha256"]
    assert (place / "enclave.wasm.sha256").read_text() == f"{digest}  enclave.wasm\n"
    seen = holdfast("enclave", "verify", enclave_url=place.as_uri())
    assert seen.code == Exit.OK
    assert digest in seen.out and "the copy that came with this release" in seen.out
    (place / "enclave.wasm.sha256").write_text("00" * 32)
    torn = holdfast("enclave", "verify", enclave_url=place.as_uri())
    assert torn.code == Exit.FAILED and "digest" in torn.err


def test_a_module_that_services_would_ignore_or_of_another_digest_is_not_published(holdfast, place, tmp_path):
    file = tmp_path / "new.wasm"
    file.write_bytes(standing_in())
    done = holdfast("enclave", "publish", file, "--yes", "--json", enclave_url=place.as_uri())
    assert done.code == Exit.FAILED
    assert done.error["error"].startswith("the module lacks add_wrap")
    other = holdfast("enclave", "publish", "--yes", "--sha256", "00" * 32, enclave_url=place.as_uri())
    assert other.code == Exit.FAILED
    assert holdfast("enclave", "publish", enclave_url=place.as_uri()).code == Exit.USAGE  # it asks first
    assert list(place.iterdir()) == []


def test_each_way_to_fail_has_its_exit_code(holdfast, place, tmp_path):
    nowhere, url = tmp_path / "none", place.as_uri()
    assert holdfast("enclave", "verify").code == Exit.CONFIGURATION
    assert holdfast("enclave", "publish", "--yes").code == Exit.CONFIGURATION
    assert holdfast("enclave", "verify", nowhere, enclave_url=url).code == Exit.NOT_FOUND
    assert holdfast("enclave", "verify", enclave_url=nowhere.as_uri()).code == Exit.UNAVAILABLE
    assert holdfast("enclave", "publish", "--yes", enclave_url=nowhere.as_uri()).code == Exit.UNAVAILABLE
    (place / "enclave.wasm").write_bytes(b"\0asm\x01\0\0\0")
    assert holdfast("enclave", "verify", enclave_url=url).code == Exit.FAILED


def test_no_command_aborts_while_it_ends(holdfast, place):
    with ThreadPoolExecutor(4) as several:  # an awaited call to the storage aborted one command in twenty
        answers = several.map(lambda _: holdfast("enclave", "verify", enclave_url=place.as_uri()), range(amount(4, 64)))
        assert {answer.code for answer in answers} == {Exit.NOT_FOUND}
