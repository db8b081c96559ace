"""Property tests of the intake: however bytes are cut, the same requests; whatever bytes, no fault of ours."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from holdfast.service.http_server.intake import Intake
from holdfast.service.http_server.request import IncomingRequest

BODIES = st.binary(max_size=300)
HEADS = st.sampled_from(
    [b"GET /a?b=c HTTP/1.1\r\nHost: x\r\n", b"POST /%20 HTTP/1.1\r\nHost: x\r\nX-Y:  z \r\n", b"DELETE * HTTP/1.0\r\n"]
)


class Receiver:
    """Keeps what arrives."""

    def __init__(self) -> None:
        self.requests: list[IncomingRequest] = []
        self.held = 0

    def begun(self) -> None:
        return None

    def arrived(self, request: IncomingRequest) -> None:
        self.requests.append(request)

    def want_body(self, request: IncomingRequest) -> None:
        raise AssertionError("nobody asks here")

    def hold(self) -> None:
        self.held += 1


def by_length(head: bytes, body: bytes) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def by_chunks(head: bytes, body: bytes) -> bytes:
    pieces = [body[start : start + 7] for start in range(0, len(body), 7)]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"


REQUESTS = st.lists(
    st.tuples(st.sampled_from([by_length, by_chunks]), HEADS, BODIES).filter(
        lambda made: not (made[0] is by_chunks and b"1.0" in made[1])
    ),
    max_size=5,
)


def taken(stream: bytes, cuts: list[int]) -> tuple[list[tuple[object, ...]], bool]:
    receiver = Receiver()
    intake = Intake(receiver, "peer")
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    refusals = [intake.feed(stream[start:end]) for start, end in pairwise(edges)]
    return [
        (r.method, r.raw_path, r.query, r.all_headers(), b"".join(r._body), r.complete, r.keep_alive)
        for r in receiver.requests
    ], any(refusals)


@given(REQUESTS, st.lists(st.integers(0, 2000), max_size=40))
def test_however_the_stream_is_cut_the_requests_are_the_same(
    made: list[tuple[object, bytes, bytes]], cuts: list[int]
) -> None:
    kept = made[: next((n + 1 for n, (_, head, _) in enumerate(made) if b"1.0" in head), len(made))]
    stream = b"".join(form(head, body) for form, head, body in kept)  # type: ignore[operator]
    requests, refused = taken(stream, cuts)
    assert not refused and [request[4] for request in requests] == [body for _, _, body in kept]
    assert all(request[5] for request in requests)
    assert requests == taken(stream, [])[0]


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=40),
            st.sampled_from(
                [
                    b"GET / HTTP/1.1\r\n", b"POST /x HTTP/1.1\r\n", b"Host: x\r\n", b"\r\n", b"Content-Length: 5\r\n",
                    b"Transfer-Encoding: chunked\r\n", b"Connection: upgrade\r\nUpgrade: h2c\r\n", b"5\r\nhello\r\n",
                    b"0\r\n\r\n", b"Expect: 100-continue\r\n", b"HTTP/1.1 200 OK\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                ]
            ),
        ),
        max_size=12,
    )
)  # fmt: skip
def test_whatever_comes_is_taken_or_refused(pieces: list[bytes]) -> None:
    receiver = Receiver()
    intake = Intake(receiver, "")
    for piece in pieces:
        refusal = intake.feed(piece)
        if refusal or intake.over:
            assert refusal is None or refusal.status in {400, 431, 505}
            return
    assert all(request.path.startswith(("/", "*")) for request in receiver.requests)
