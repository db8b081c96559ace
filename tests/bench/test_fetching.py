"""The reading loop counts only verified responses, and gives no rate for a server that returns false data."""

import pytest
from bench.fetch_loop import Order
from bench.fetching import LIBRARIES, fetch_loop
from bench.load import LoadError
from tests.support.http_servers import Handler, http_server

from holdfast.content.cars import write_car
from holdfast.content.snapshots import Manifest, snapshot_blocks

MANIFEST = Manifest(root_cid=None, did="did:example:bench", updated_at=1, wasm_version="0.1.0")
ROOT, BLOCK = snapshot_blocks(MANIFEST, b"a sealed vault")
OTHER_ROOT, OTHER_BLOCK = snapshot_blocks(MANIFEST, b"another sealed vault")
CAR = write_car(ROOT.cid, [ROOT, BLOCK])


BODIES = {
    "/block": BLOCK.data,
    "/changed-block": b"A" + BLOCK.data[1:],
    "/car": CAR,
    "/changed-car": CAR[:-1] + b"T",
    "/cut-car": CAR[:-1],
    "/other-car": write_car(OTHER_ROOT.cid, [OTHER_ROOT, OTHER_BLOCK]),
    "/car-without-block": write_car(ROOT.cid, [ROOT]),
}


class Answers(Handler):
    """Answers each path with fixed bytes, over connections that stay open."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):  # noqa: N802 - the base class's name
        body = BODIES.get(self.path.partition("?")[0])
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")


@pytest.fixture(scope="module")
def url():
    with http_server(Answers) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def loop():
    with fetch_loop() as running:
        yield running


@pytest.fixture(params=LIBRARIES)
def order(request, url):
    """Make orders for one path."""

    def make(path):
        form, cids = ("car", (ROOT.cid, BLOCK.cid)) if "car" in path else ("block", (BLOCK.cid,))
        return Order(url, request.param, form, ((path, *cids),), at_a_time=4, seconds=0.05)

    return make


@pytest.mark.parametrize("path", ["/block", "/car"])
def test_verified_answers_are_counted_and_timed(loop, order, path):
    seen = loop.carry_out(order(path))
    assert seen.answers >= 4
    assert seen.seconds > 0
    assert 0 < seen.p50_us <= seen.p99_us
    assert seen.cpu_s > 0


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/changed-block", "does not match its CID"),
        ("/changed-car", "does not match its CID"),
        ("/cut-car", "cut short"),
        ("/other-car", "another snapshot"),
        ("/car-without-block", "another snapshot"),
        ("/missing-block", "404"),
    ],
)
def test_a_lying_server_has_no_rate_and_the_loop_goes_on(loop, order, path, reason):
    with pytest.raises(LoadError, match=reason):
        loop.carry_out(order(path))
    assert loop.carry_out(order("/block")).answers > 0


def test_one_lie_among_honest_answers_is_noticed(loop, order, url):
    honest = order("/block")
    named = (*honest.named * 2, ("/changed-block", BLOCK.cid))
    with pytest.raises(LoadError, match="does not match its CID"):
        loop.carry_out(Order(url, honest.library, "block", named, at_a_time=4, seconds=60))  # it ends at the lie
