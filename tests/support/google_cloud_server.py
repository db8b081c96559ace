"""Runs gcp-storage-emulator with the parts of Google's XML API that it lacks: ETags, DELETE requests and lists."""

from __future__ import annotations

import sys
from typing import Any
from xml.sax.saxutils import escape

from gcp_storage_emulator import server
from gcp_storage_emulator.handlers import objects


def put_with_etag(request: Any, response: Any, storage: Any, *args: Any, **kwargs: Any) -> None:
    """Handle PUT /{bucket}/{object}."""
    objects.xml_upload(request, response, storage, *args, **kwargs)
    response["ETag"] = '"1"'


def get_with_etag(request: Any, response: Any, storage: Any, *args: Any, **kwargs: Any) -> None:
    """Handle GET /{bucket}/{object}."""
    response["ETag"] = '"1"'
    response["Last-Modified"] = "Thu, 01 Jan 2026 00:00:00 GMT"
    objects.download(request, response, storage, *args, **kwargs)


def list_objects(request: Any, response: Any, storage: Any, *_args: Any, **_kwargs: Any) -> None:
    """Handle GET /{bucket}?list-type=2&prefix=..."""
    prefix = (request.query.get("prefix") or [""])[0]
    found = storage.get_file_list(request.params["bucket_name"], prefix)
    entries = found[0] if isinstance(found, tuple) else found
    rows = "".join(
        f"<Contents><Key>{escape(it['name'])}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
        f"<ETag>&quot;1&quot;</ETag><Size>{it['size']}</Size></Contents>"
        for it in entries
    )
    response["Content-Type"] = "application/xml"
    response.write(f'<?xml version="1.0" encoding="UTF-8"?><ListBucketResult>{rows}</ListBucketResult>')


def main() -> None:
    port, bucket = sys.argv[1:]
    (path, handlers) = server.HANDLERS[-1]
    completed = {**handlers, server.GET: get_with_etag, server.PUT: put_with_etag, server.DELETE: objects.delete}
    lists = (r"^/(?P<bucket_name>[-.\w]+)/?$", {server.GET: list_objects})
    server.HANDLERS = (*server.HANDLERS[:-1], lists, (path, completed))
    server.create_server("127.0.0.1", int(port), in_memory=True, default_bucket=bucket).run()


if __name__ == "__main__":
    main()
