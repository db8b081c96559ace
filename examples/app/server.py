"""A guest book that people sign with their Holdfast vaults: `python examples/app/server.py`, http://localhost:8000/."""

import json
import secrets
import sys
from datetime import UTC, datetime
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from holdfast import AppSignatureRefused, verify_app_signature

SERVICE, PORT = (*sys.argv[1:], *("http://localhost:8787", "8000")[len(sys.argv) - 1 :])
TEXT = "I sign the guest book."
open_challenges: set[str] = set()  # a real server stores them in its database, for ten minutes


class App(SimpleHTTPRequestHandler):
    """Serves the page's files and challenges, and checks signatures."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args, directory=str(Path(__file__).parent))

    def do_GET(self) -> None:
        """GET /challenge returns what to sign, /.well-known/holdfast-connect where answers may go."""
        if self.path == "/.well-known/holdfast-connect":
            self.answer(200, json.dumps({"returns": ["/"]}))
            return
        if self.path != "/challenge":
            super().do_GET()
            return
        open_challenges.add(challenge := secrets.token_urlsafe(24))
        self.answer(200, json.dumps({"service": SERVICE, "challenge": challenge, "text": TEXT}))

    def do_POST(self) -> None:
        """POST /sign receives and checks the vault's signature."""
        try:
            given = json.loads(self.rfile.read(min(int(self.headers["Content-Length"]), 16384)))
            challenge = given["message"].split("\nChallenge: ")[1].split("\n")[0]
            open_challenges.remove(challenge)  # each is valid once
            origin = f"http://localhost:{self.server.server_port}"
            did = verify_app_signature(
                given, origin=origin, challenge=challenge, text=TEXT, now=datetime.now(UTC), returns=[f"{origin}/"]
            )
        except AppSignatureRefused as refused:
            self.answer(403, str(refused))
        except (KeyError, IndexError, ValueError, TypeError, AttributeError):
            self.answer(400, "This is not a response to one of our challenges.")
        else:
            self.answer(200, f"Signed by {did}")

    def answer(self, status: int, text: str) -> None:
        """Send a text response."""
        self.send_response(status)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        self.wfile.write(text.encode())


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(PORT)), App).serve_forever()
