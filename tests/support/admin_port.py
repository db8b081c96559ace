"""The admin port of a service in this process, and keys for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.support.api import KEY, Api

from holdfast.service.bootstrap.administration import administration
from holdfast.service.http.relaying import RelayedRequest
from holdfast.service.settings.secrets import Secrets
from holdfast.service.settings.values import read_settings
from holdfast.service.store.administration import By
from holdfast.service.web.administration import Administration
from holdfast.wire.admin_endpoints import API, Scope

ADDRESS = "192.0.2.1"


class Port:
    def __init__(self, api: Api) -> None:
        settings = read_settings({"HOLDFAST_ADMIN_HOSTS": "admin.example"})
        self.api = api
        self.store = api.service.store
        secrets = Secrets((KEY,), generated=False)
        self.admin: Administration = administration(settings, secrets, self.store, api.application.files, api.clock)
        self.held: dict[str, str] = {}

    async def key(self, name: str, *scopes: str) -> str:
        by = By("cli:root", self.api.clock())
        self.held[name] = await self.admin.keys.make(name, scopes or [*Scope], by)
        return self.held[name]

    async def ask(
        self,
        method: str,
        path: str,
        key: str = "",
        body: object = None,
        query: str = "",
        peer: str = ADDRESS,
        **headers: str,
    ) -> tuple[int, Any, Mapping[str, str]]:
        given = {"host": "127.0.0.1:9464", **({"authorization": f"Bearer {key}"} if key else {})}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = RelayedRequest(method, path, query, peer, [*given.items()], content)
        response = await self.admin.respond(request)
        found, told = bytes(response.body), dict(response.headers)
        return response.status, json.loads(found) if "json" in told.get("content-type", "") else found.decode(), told

    async def get(self, path: str, query: str = "", **more: Any) -> Any:
        status, found, _ = await self.ask("GET", API + path, self.held["eva"], query=query, **more)
        return found if status == 200 else (status, found["error"])

    async def post(self, path: str, **body: Any) -> Any:
        status, found, _ = await self.ask("POST", API + path, self.held["eva"], body)
        return found if status == 200 else (status, found["error"])


@pytest.fixture
async def port(api: Api) -> Port:
    made = Port(api)
    await made.key("eva")
    return made
