"""Pairing two real enclaves in memory, over HTTP and over libp2p, including with a man in the middle."""

import asyncio
import gc
import io
import socket
import struct
import threading

import httpx2
import pytest
from tests.support.blocking import asynchronous
from tests.support.vaults import GIVEN, SECRET

from holdfast.cli.pairing import _typed
from holdfast.client.blocking.loop import run
from holdfast.client.blocking.pairing import PairingServer, receive
from holdfast.client.blocking.vault import Vault
from holdfast.client.sync import libp2p_host
from holdfast.client.sync.http_link import HttpChannel, HttpOffer
from holdfast.client.sync.libp2p_host import Libp2pChannel, Libp2pOffer
from holdfast.client.sync.protocol import AsyncPairingServer, SyncRefused
from holdfast.client.sync.protocol import receive as receive_asynchronously
from holdfast.client.sync.qr import qr_text
from holdfast.client.vault.async_vault import AsyncVault
from holdfast.client.vault.keys import SecretKey
from holdfast.wire.client_errors import NetworkError, StorageError

NEW_KEY = SecretKey(b"n" * 32)


@pytest.fixture
def holding():
    with Vault() as vault:
        vault.generate(GIVEN, SECRET)
        yield vault


@pytest.fixture
def empty(store):
    with Vault(store) as vault:
        yield vault


class People:
    """The people at both devices: one reads the digits on the new device, and the other types them on the old one."""

    def __init__(self, same=True):
        self.shown, self.old, self._same = threading.Event(), None, same

    def show(self, digits):
        self.new = digits
        self.shown.set()

    def type(self, digits):
        self.old = digits
        self.shown.wait(60)
        return self.new

    def confirm(self, _digits):
        return self._same and self.old == self.new


class Direct:
    """A channel in memory; `change`, the man in the middle, takes (direction, message) and returns a message."""

    def __init__(self, holder, change=lambda _direction, message: message):
        self.holder, self.change = holder, change

    async def ask(self, message):
        back = await asynchronous(self.holder).handle(self.change("there", dict(message)))
        return self.change("back", dict(back))


def pair(holding, empty, people, *change):
    channel = Direct(PairingServer(holding, people.type), *change)
    receive(empty, channel, NEW_KEY, people.show, people.confirm)


def fails(_digits):
    raise StorageError("the disk is full")


def nothing_leaked(empty):
    assert empty.status().initialized is False
    assert empty.store.load() is None


@pytest.mark.parametrize("typed", ["000000", "", None, "12345", "1234567", "abcdef", "\u0660" * 6, _typed, fails])
def test_other_digits_release_nothing(holding, empty, typed, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())  # where a command reads, and which ends at once
    holder = PairingServer(holding, typed if callable(typed) else lambda _digits: typed)
    with pytest.raises(SyncRefused):
        receive(empty, Direct(holder), NEW_KEY, lambda _d: None, lambda _d: True)
    assert holder.finished
    nothing_leaked(empty)


def test_a_person_who_sees_other_digits_stores_nothing(holding, empty):
    with pytest.raises(SyncRefused, match="digits differ"):
        pair(holding, empty, People(same=False))
    nothing_leaked(empty)


@pytest.mark.parametrize(
    ("field", "place"), [("session_id", 0), ("public_key", 10), ("reveal", -1), ("encrypted_vault", 10)]
)
def test_a_changed_message_is_refused(holding, empty, field, place):
    def change(_direction, message):
        if field in message:
            text = list(message[field])
            text[place] = "0" if text[place] != "0" else "1"
            message[field] = "".join(text)
        return message

    with pytest.raises(SyncRefused):
        pair(holding, empty, People(), change)
    nothing_leaked(empty)


@pytest.mark.parametrize(
    "message",
    [{}, {"step": 1}, {"step": "reveal", "session_id": "00" * 32, "reveal": "00" * 32}, {"step": "complete"},
     {"step": "hello", "session_id": "00" * 32, "public_key": "04" + "00" * 64}, {"step": "hello", "session_id": "x"}],
)  # fmt: skip
def test_messages_that_begin_no_pairing_are_refused_alike_and_end_none(holding, empty, message):
    """Over libp2p, anyone in the network can send them."""
    people = People()
    holder = PairingServer(holding, people.type)
    for _ in range(2):
        assert holder.handle(message) == {"error": "refused"}
    assert not holder.finished
    assert receive(empty, Direct(holder), NEW_KEY, people.show, people.confirm).did == holding.status().did
    assert holder.finished
    assert holder.handle(message) == {"error": "refused"}


def test_over_a_local_link(holding, empty):
    people = People()
    with HttpOffer(PairingServer(holding, people.type), host="127.0.0.1") as offer:
        done = receive(empty, HttpChannel(offer.link), NEW_KEY, people.show, people.confirm)
        assert (done.success, done.did, done.status) == (True, holding.status().did, "complete")
        assert people.old == people.new and len(people.new) == 6
        assert empty.store.load().manifest.did == done.did
        base = offer.link.rsplit("/", 1)[0]
        assert httpx2.post(f"{base}/guess", json={}).status_code == 404
        assert httpx2.get(offer.link).status_code == 501
        assert httpx2.post(offer.link, content=b"x" * 70_000).status_code == 404
        for text in (b"nope", b"\xff", b'{"x":' + b"[" * 60_000):
            assert httpx2.post(offer.link, content=text).json() == {"error": "refused"}
    with pytest.raises(NetworkError):
        run(HttpChannel(offer.link).ask({}))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (httpx2.Response(200, content=bytes(2000)), "larger than 1000 bytes"),
        (httpx2.Response(302, headers={"Location": "https://-.xn--a/"}), "the other device does not answer"),
        (httpx2.Response(200, content=b"<html>"), "not that of a pairing"),
        (httpx2.Response(200, content=b'{"x":' + b"[" * 990), "not that of a pairing"),
    ],
)
async def test_what_answers_at_a_local_link_may_be_anyone(answer, message, monkeypatch):
    monkeypatch.setattr("holdfast.client.sync.http_link.MAX_MESSAGE_BYTES", 1000)
    channel = HttpChannel("http://192.0.2.1/x", transport=httpx2.MockTransport(lambda _request: answer))
    with pytest.raises(NetworkError, match=message):
        await channel.ask({})


async def test_a_device_that_drips_is_not_waited_for_longer_than_a_pairing_lasts(monkeypatch):
    monkeypatch.setattr("holdfast.client.sync.http_link.LIFE_S", 0.2)

    class Dripping(httpx2.AsyncByteStream):
        async def __aiter__(self):
            while True:
                await asyncio.sleep(0.01)
                yield b" "

    answer = httpx2.MockTransport(lambda _request: httpx2.Response(200, stream=Dripping()))
    with pytest.raises(NetworkError, match="does not answer"):
        await HttpChannel("http://192.0.2.1/x", transport=answer).ask({})


@pytest.mark.parametrize("length", ["\u00b2", "9" * 5000, "-1", "1_0", ""])
def test_a_length_that_is_not_a_number_gets_a_plain_404(holding, length):
    with HttpOffer(PairingServer(holding, str), host="127.0.0.1") as offer:
        url = httpx2.URL(offer.link)
        with socket.create_connection((url.host, url.port), timeout=30) as connection:
            head = f"POST {url.path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n"
            connection.sendall(head.encode("latin-1"))
            assert connection.recv(100).startswith(b"HTTP/1.1 404 ")


def test_a_local_link_ends_only_after_a_slow_device_has_the_last_answer_and_tells_of_one_that_is_gone():
    body = b"x" * 20_000_000

    class Large:
        answer = staticmethod(lambda _asked: began.set() or body)

    def asked(offer):
        url = httpx2.URL(offer.link)
        device = socket.create_connection((url.host, url.port), timeout=30)
        device.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        device.sendall(f"POST {url.path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{{}}".encode())
        began.wait(30)
        return device

    def reset(device):
        device.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        device.close()

    began = threading.Event()
    with HttpOffer(Large(), host="127.0.0.1") as offer:
        slow, taken = asked(offer), []
        taking = threading.Thread(target=lambda: taken.extend(iter(lambda: len(slow.recv(1 << 16)), 0)))
        threading.Timer(0.2, taking.start).start()
    assert sum(taken) > len(body) // 2, "the rest is on its way"
    taking.join()
    assert sum(taken) > len(body)
    slow.close()
    began.clear()
    with pytest.raises(NetworkError, match="has gone"), HttpOffer(Large(), host="127.0.0.1") as offer:
        reset(asked(offer))


async def test_over_a_local_link_with_asyncio_vaults(store):
    loop = asyncio.get_running_loop()
    async with AsyncVault() as old, AsyncVault(store) as new:
        await old.generate(GIVEN, SECRET)
        shown = loop.create_future()

        async def typed(_digits):
            return await shown

        with HttpOffer(AsyncPairingServer(old, typed), host="127.0.0.1", loop=loop) as offer:
            channel = HttpChannel(offer.link)
            done = await receive_asynchronously(new, channel, NEW_KEY, shown.set_result, lambda _d: True)
        assert done.did == (await old.status()).did


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_over_libp2p(holding, empty, monkeypatch):
    """Warnings are filtered because py-libp2p leaves a socket to the garbage collector when a dialling host closes."""
    people, looked = People(), []
    address_of = libp2p_host.remote_address
    monkeypatch.setattr(libp2p_host, "remote_address", lambda stream: looked.append(address_of(stream)))
    with Libp2pOffer(PairingServer(holding, people.type), log=holding.boot_log) as offer:
        assert "/ws/p2p/" in offer.address
        assert holding.boot_status.libp2p
        done = receive(empty, Libp2pChannel(offer.address), NEW_KEY, people.show, people.confirm)
    assert done.did == holding.status().did
    assert set(map(str, looked)) == {"127.0.0.1"}, "py-libp2p shows the addresses that the limits are for"
    assert holding.boot_status.libp2p  # so that another pairing is possible
    with pytest.raises(NetworkError):
        run(Libp2pChannel("/ip4/127.0.0.1/tcp/9/nonsense").ask({}))
    gc.collect()  # collect here, where the warnings are expected, and not in a later test


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_libp2p_host_offers_noise_alone_whether_it_listens_or_dials(holding, monkeypatch):
    """So that a man in the middle cannot downgrade the connection to a weaker protocol."""
    import libp2p

    made, new_host = [], libp2p.new_host
    monkeypatch.setattr(libp2p, "new_host", lambda **given: made.append(new_host(**given)) or made[-1])
    with Libp2pOffer(PairingServer(holding, str)) as offer:
        assert run(Libp2pChannel(offer.address).ask({"step": "hello"})) == {"error": "refused"}
    transports = [list(host.get_network().upgrader.security_multistream.transports) for host in made]
    assert transports == [["/noise"]] * 2
    gc.collect()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_libp2p_host_that_does_not_start_leaves_the_enclave(holding):
    with pytest.raises(NetworkError, match="libp2p did not start"):
        Libp2pOffer(PairingServer(holding, str), log=holding.boot_log, listen="/ip4/127.0.0.1/nonsense").__enter__()
    assert holding.boot_log.events[-1].status == "failed"
    assert (holding.boot_status.enclave, holding.boot_status.libp2p) == (True, False)
    assert holding.status().locked is False


def test_the_qr_code_is_of_block_characters():
    text = qr_text("http://192.168.1.2:1234/secret")
    assert len(text.splitlines()) > 10
    assert "█" in text or "▀" in text
