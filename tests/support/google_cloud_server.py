"""gcp-storage-emulator with what its XML API lacks and Google's has: an ETag after PUT, and DELETE."""

from __future__ import annotations

import sys
from typing import Any

from gcp_storage_emulator import server
from gcp_storage_emulator.handlers import objects


def put_with_etag(request: Any, response: Any, storage: Any, *args: Any, **kwargs: Any) -> None:
    """PUT /{bucket}/{object}."""
    objects.xml_upload(request, response, storage, *args, **kwargs)
    response["ETag"] = '"1"'


def get_with_etag(request: Any, response: Any, storage: Any, *args: Any, **kwargs: Any) -> None:
    """GET /{bucket}/{object}."""
    response["ETag"] = '"1"'
    response["Last-Modified"] = "Thu, 01 Jan 2026 00:00:00 GMT"
    objects.download(request, response, storage, *args, **kwargs)


def main() -> None:
    """Serve until killed: PORT BUCKET."""
    port, bucket = sys.argv[1:]
    (path, handlers) = server.HANDLERS[-1]
    completed = {**handlers, server.GET: get_with_etag, server.PUT: put_with_etag, server.DELETE: objects.delete}
    server.HANDLERS = (*server.HANDLERS[:-1], (path, completed))
    server.create_server("127.0.0.1", int(port), in_memory=True, default_bucket=bucket).run()


if __name__ == "__main__":
    main()
