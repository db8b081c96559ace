"""The host through which two devices pair: who may wait, which device gets a message, and what ends a meeting.

Streams in memory.
"""

import asyncio
import inspect
import json
from types import SimpleNamespace

import pytest
import trio
import trio.testing

from holdfast.client.sync import libp2p_host, libp2p_meeting
from holdfast.client.sync.libp2p_host import MAX_STREAMS_EACH, Libp2pOffer, read_message, write_message
from holdfast.client.sync.libp2p_meeting import LEAST_NAME, MAX_MEETINGS_EACH, Libp2pMeeting, MeetingChannel
from holdfast.client.sync.protocol import MAX_REQUEST_BYTES
from holdfast.wire.client_errors import NetworkError

NAME, OTHER = "m" * LEAST_NAME, "n" * LEAST_NAME
REFUSED = {"error": "refused"}
WAITING = {"waiting": True}
PATIENCE_S = 60


class Side:
    """A device's end of a stream to the pairing host."""

    def __init__(self, stream):
        self._stream = stream

    async def say(self, message):
        await write_message(self, json.dumps(message).encode() if isinstance(message, dict) else message)

    async def hear(self):
        with trio.fail_after(PATIENCE_S):
            return json.loads(await read_message(self))

    async def read(self, most):
        return await self._stream.receive_some(most)

    async def write(self, data):
        await self._stream.send_all(data)

    async def leave(self):
        await self._stream.aclose()


class HostsEnd(Side):
    """The host's end of the stream, as py-libp2p passes it to a protocol handler. `peer`: an address, or a peer ID."""

    ended = ""

    def __init__(self, stream, peer="peer"):
        super().__init__(stream)
        socket = SimpleNamespace(remote=SimpleNamespace(address=peer))
        connection = SimpleNamespace(conn=SimpleNamespace(stream=SimpleNamespace(_ws_connection=socket)))
        self.muxed_conn = SimpleNamespace(peer_id=peer, secured_conn=SimpleNamespace(conn=connection))

    async def close(self):
        self.ended = "closed"
        await self._stream.aclose()

    async def reset(self):
        self.ended = "reset"
        await self._stream.aclose()


class Meetings:
    """A pairing host without a network, to which the tests open streams directly."""

    def __init__(self, nursery, **options):
        self.host, self._nursery = options.pop("host", None) or Libp2pMeeting(**options), nursery

    async def silent(self, peer="peer"):
        device, host = trio.testing.memory_stream_pair()
        side, end = Side(device), HostsEnd(host, peer)
        (handler,) = self.host.handlers().values()
        self._nursery.start_soon(handler, end)
        return side, end

    async def stream(self, first, peer="peer"):
        side, end = await self.silent(peer)
        await side.say(first)
        return side, end

    async def giver(self, name=NAME, peer="peer"):
        side, end = await self.stream({"meeting": name, "gives": True}, peer)
        return side, end, await side.hear()

    async def asked(self, message, name=NAME):
        side, _ = await self.stream({"meeting": name, "message": message})
        return side


def hosted(**options):
    """Run a test's coroutine with a pairing host, and then cancel all tasks that are still waiting."""

    def decorated(work):
        async def whole(given):
            async with trio.open_nursery() as nursery:
                with trio.fail_after(PATIENCE_S):
                    await work(Meetings(nursery, **options), **given)
                nursery.cancel_scope.cancel()

        def test(**given):
            trio.run(whole, given)

        _, *others = inspect.signature(work).parameters.values()
        test.__signature__ = inspect.Signature(others)
        return test

    return decorated


class Echo:
    """A pairing that returns what it was sent."""

    def answer(self, body):
        return body


@hosted()
async def test_a_message_reaches_the_device_that_waits_under_its_name(meetings):
    first, _, said = await meetings.giver()
    second, _, _ = await meetings.giver(OTHER)
    assert said == WAITING and meetings.host.waits(NAME) and meetings.host.waits(OTHER)
    asking = await meetings.asked({"step": "hello", "n": 1})
    assert await first.hear() == {"step": "hello", "n": 1}
    await first.say({"public_key": "k"})
    assert await asking.hear() == {"public_key": "k"}
    asking = await meetings.asked({"step": "hello"}, OTHER)
    assert await second.hear() == {"step": "hello"}


@hosted(most=1)
async def test_a_full_host_takes_no_more_devices_until_one_has_gone(meetings):
    first, firsts_end, said = await meetings.giver()
    assert said == WAITING
    _, end, said = await meetings.giver(OTHER)
    assert said == REFUSED and not meetings.host.waits(OTHER)
    asking = await meetings.asked({"step": "hello"})
    await first.say(await first.hear())
    await first.leave()  # after its last reply, which is passed on
    assert await asking.hear() == {"step": "hello"}
    while not firsts_end.ended:  # the device waits for this before it ends the connection
        await trio.sleep(0.01)
    assert firsts_end.ended == "closed" and not meetings.host.waits(NAME)
    assert (await meetings.giver(OTHER))[2] == WAITING
    assert end.ended == "closed"


@pytest.mark.parametrize("name", ["", "short", "m" * (LEAST_NAME - 1)])
@hosted()
async def test_a_name_that_can_be_guessed_is_refused(meetings, name):
    assert (await meetings.giver(name))[2] == REFUSED
    assert not meetings.host.waits(name)


@hosted()
async def test_a_name_that_is_taken_stays_with_the_first_device_and_another_reaches_none(meetings):
    first, _, _ = await meetings.giver()
    assert (await meetings.giver())[2] == REFUSED
    assert await (await meetings.asked({"step": "hello"}, OTHER)).hear() == REFUSED
    asking = [await meetings.asked({"n": number}) for number in range(2)]
    for _ in asking:  # one message after the other
        await first.say({"for": (await first.hear())["n"]})
    assert [(await side.hear())["for"] for side in asking] == [0, 1]


@pytest.mark.parametrize(
    "first", [b"not json", b"[]", b'{"gives": true}', b'{"meeting": 5}', b'{"meeting": "x", "message": 5}', b"\xff"]
)
@hosted()
async def test_a_first_message_of_another_form_ends_the_stream_alone(meetings, first):
    side, end = await meetings.stream(first)
    assert await side.read(1) == b"" and end.ended == "reset"
    assert (await meetings.giver())[2] == WAITING


TOO_LONG = (MAX_REQUEST_BYTES + 1).to_bytes(4)


@pytest.mark.parametrize("sent", [TOO_LONG, b""], ids=["too long", "nothing"])
@hosted()
async def test_a_device_that_says_nothing_or_too_much_is_let_go(meetings, monkeypatch, sent):
    monkeypatch.setattr(libp2p_host, "FIRST_S", PATIENCE_S if sent else 0.01)
    side, end = await meetings.silent()
    await side.write(sent)
    assert await side.read(1) == b"" and end.ended == "reset"


@hosted(host=Libp2pOffer(Echo()))
async def test_an_offer_outlives_strangers_streams(meetings, monkeypatch):
    for sent in (TOO_LONG, b"\xff" * 4, b""):
        monkeypatch.setattr(libp2p_host, "FIRST_S", PATIENCE_S if sent else 0.01)
        side, end = await meetings.silent()
        await side.write(sent)
        assert await side.read(1) == b"" and end.ended == "reset"
    monkeypatch.setattr(libp2p_host, "FIRST_S", PATIENCE_S)
    side, end = await meetings.stream({"step": "hello"})
    assert await side.hear() == {"step": "hello"}
    await side.leave()
    await trio.testing.wait_all_tasks_blocked()
    assert end.ended == "closed"


@pytest.mark.parametrize("peers", [("peer", "other"), ("8.8.8.8", "8.8.4.4"), ("2606:4700::1", "2606:4700:1::1")])
@hosted()
async def test_a_peer_has_few_streams_and_meetings_and_others_have_theirs(meetings, monkeypatch, peers):
    monkeypatch.setattr(libp2p_host, "FIRST_S", 10 * PATIENCE_S)
    peer, other = peers
    said = [(await meetings.giver(NAME + str(at), peer))[2] for at in range(MAX_MEETINGS_EACH + 1)]
    assert said == [WAITING] * MAX_MEETINGS_EACH + [REFUSED]
    for _ in range(MAX_STREAMS_EACH - MAX_MEETINGS_EACH):
        await meetings.silent(peer)
    await trio.testing.wait_all_tasks_blocked()
    side, end = await meetings.silent(peer)
    assert await side.read(1) == b"" and end.ended == "reset"
    assert (await meetings.giver(OTHER, other))[2] == WAITING


@hosted()
async def test_a_stream_that_ends_makes_room(meetings, monkeypatch):
    monkeypatch.setattr(libp2p_host, "MAX_STREAMS", 1)
    monkeypatch.setattr(libp2p_host, "FIRST_S", 10 * PATIENCE_S)
    for _ in range(3):
        side, end = await meetings.stream({"meeting": OTHER, "message": {}})
        assert await side.hear() == REFUSED
        assert await side.read(1) == b"" and end.ended == "closed"
    await meetings.giver(peer="a")
    side, end = await meetings.silent("b")
    assert await side.read(1) == b"" and end.ended == "reset"


def test_the_addresses_of_a_home_network_count_together_and_those_of_a_proxy_not_at_all():
    def peer(address, peer_id="id"):
        end = HostsEnd(None, address)
        end.muxed_conn.peer_id = peer_id
        return libp2p_host.peer_of(end)

    assert peer("2606:4700::1") == peer("2606:4700::2", "other") != peer("2606:4700:0:1::1")
    assert [peer(each) for each in ("127.0.0.1", "172.17.0.1", "?")] == ["id"] * 3
    assert libp2p_host.remote_address(object()) is None


@hosted(only=NAME)
async def test_a_host_of_one_meeting_takes_no_other(meetings):
    assert (await meetings.giver(OTHER, "stranger"))[2] == REFUSED
    assert (await meetings.giver())[2] == WAITING


@hosted()
async def test_a_message_is_forwarded_unread_and_a_long_reply_as_it_arrives(meetings):
    """So the host holds neither: 48 MB of nested arrays would become more than a gigabyte of objects."""
    message = b'{"a" : [' + 4000 * b"[]," + b"[]]}"
    giver, _, _ = await meetings.giver()
    asking, _ = await meetings.stream(b'{"meeting":"' + NAME.encode() + b'","message":' + message + b"}")
    assert await read_message(giver) == message
    await giver.write((2 << 20).to_bytes(4) + b"x" * (1 << 20))
    assert await asking.read(4) == (2 << 20).to_bytes(4)
    for _ in range(1 << 20 >> 16):
        assert await asking.read(1 << 16)
    await giver.write(b"y" * (1 << 20))


@hosted()
async def test_a_reply_that_breaks_off_ends_the_stream_and_is_not_completed(meetings):
    giver, _, _ = await meetings.giver()
    asking, end = await meetings.stream({"meeting": NAME, "message": {}})
    await read_message(giver)
    await giver.write((100).to_bytes(4) + b"x")
    await giver.leave()
    assert await asking.read(4) == (100).to_bytes(4) and await asking.read(99) == b"x"
    assert await asking.read(99) == b"" and end.ended == "reset"


@hosted()
async def test_a_meeting_ends_after_its_time(meetings, monkeypatch):
    monkeypatch.setattr(libp2p_meeting, "LIFE_S", 0.01)
    side, end, _ = await meetings.giver()
    assert await side.read(1) == b"" and end.ended == "closed"
    assert not meetings.host.waits(NAME)


@hosted()
async def test_a_host_finishes_once_its_devices_have_left(meetings):
    side, _, _ = await meetings.giver()
    left = []
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def finish():
            await trio.to_thread.run_sync(meetings.host.finish)
            assert left

        await trio.sleep(0.2)
        left.append(await side.leave())


def test_an_offer_whose_answer_cannot_be_sent_says_so_at_its_end(monkeypatch):
    monkeypatch.setattr(libp2p_host.Libp2pHost, "__exit__", lambda *_: None)  # it has no network
    offer = Libp2pOffer(Echo())

    class Gone(HostsEnd):
        async def write(self, data):
            raise OSError

    async def serve(message):
        device, end = trio.testing.memory_stream_pair()
        await Side(device).say(message)
        (handler,) = offer.handlers().values()
        await handler(Gone(end))

    trio.run(serve, b'{"error":"refused"}')
    offer.__exit__(None)
    trio.run(serve, {"step": "reveal"})
    with pytest.raises(NetworkError, match="has gone before it had everything"):
        offer.__exit__(None)


def test_an_offer_ends_no_stream_before_the_device_has_everything():
    offer, ends = Libp2pOffer(Echo()), []

    async def serve():
        device, host = trio.testing.memory_stream_pair()
        side, end, (handler,) = Side(device), HostsEnd(host), offer.handlers().values()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(handler, end)
            await side.say({"step": "hello"})
            assert await side.hear() == {"step": "hello"}
            await trio.testing.wait_all_tasks_blocked()
            ends.append(end.ended)
            await side.leave()
        ends.append(end.ended)

    trio.run(serve)
    assert ends == ["", "closed"]


def test_a_host_that_does_not_run_reaches_no_device():
    with pytest.raises(NetworkError, match="the other device does not answer"):
        asyncio.run(MeetingChannel(Libp2pMeeting(), NAME).ask({"step": "hello"}))
