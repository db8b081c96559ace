"""Static files are sent plain, or gzip-compressed to clients that accept it, and either can be answered with 304."""

import gzip
from types import SimpleNamespace

import pytest

from holdfast.service.http.static import WORTH_PACKING, StaticAnswer

BODY = b"export const vault = 1;\n" * 200


def asked(**headers):
    return SimpleNamespace(header=lambda name: headers.get(name.replace("-", "_")))


def made(body=BODY):
    return StaticAnswer(body, "text/javascript", "no-cache", [("x-extra", "1")])


@pytest.mark.parametrize("coding", ["gzip", "*", "br, GZIP;q=0.5", "gzip;q=1", "deflate;q=0.1, *;q=0.1"])
async def test_a_client_that_reads_gzip_gets_a_smaller_body(coding):
    response = await made().serve(asked(accept_encoding=coding))
    headers = dict(response.headers)
    assert gzip.decompress(response.body) == BODY and len(response.body) < len(BODY) / 10
    assert headers["content-encoding"] == "gzip" and headers["vary"] == "Accept-Encoding" and headers["x-extra"] == "1"


@pytest.mark.parametrize("coding", [None, "identity", "br", "gzip;q=0", "*;q=0", "gzip; q=0.000"])
async def test_another_client_gets_the_body_as_it_is(coding):
    answer = made()
    await answer.serve(asked(accept_encoding="gzip"))
    response = await answer.serve(asked(**({"accept_encoding": coding} if coding else {})))
    headers = dict(response.headers)
    assert response.body == BODY and "content-encoding" not in headers and headers["vary"] == "Accept-Encoding"


async def test_each_form_has_its_own_etag_and_both_are_answered_by_304():
    answer = made()
    tags = [dict((await answer.serve(asked(accept_encoding=it))).headers)["etag"] for it in ("identity", "gzip")]
    assert tags[0] != tags[1]
    for tag in tags:
        response = await answer.serve(asked(accept_encoding="gzip", if_none_match=tag))
        headers = dict(response.headers)
        assert (response.status, response.body, headers["etag"]) == (304, b"", tag)
        assert "content-encoding" not in headers and headers["vary"] == "Accept-Encoding"
    assert (await answer.serve(asked(accept_encoding="gzip", if_none_match='"else"'))).status == 200


async def test_a_small_body_has_one_form():
    response = await made(b"x" * (WORTH_PACKING - 1)).serve(asked(accept_encoding="gzip"))
    assert "vary" not in dict(response.headers) and len(response.body) == WORTH_PACKING - 1
