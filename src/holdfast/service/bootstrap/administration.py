"""Builds operators' tasks, for commands and for the admin port."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.rules.addresses import AddressHashes
from holdfast.rules.pseudonyms import Pseudonyms
from holdfast.service.clock import Clock, Entropy, system_clock, system_entropy
from holdfast.service.http.client_address import ClientAddress
from holdfast.service.http.relaying import RelayServer
from holdfast.service.operations.admin_keys import AdminKeys
from holdfast.service.operations.invitations import Invitations
from holdfast.service.operations.operator_tasks import OperatorTasks
from holdfast.service.telemetry.reporting import FOLDER_VARIABLE
from holdfast.service.web.admin_page import AdminPage
from holdfast.service.web.administration import Administration

if TYPE_CHECKING:
    from holdfast.service.settings.secrets import Secrets
    from holdfast.service.settings.values import Settings
    from holdfast.service.store.port import Store
    from holdfast.service.web.prepared import PreparedFiles


def operator_tasks(
    settings: Settings, secrets: Secrets, store: Store, entropy: Entropy = system_entropy
) -> OperatorTasks:
    """Return the tasks on a store."""
    codes = Invitations(store, secrets.invitation_keys, settings.public_url, entropy)
    return OperatorTasks(store, AddressHashes(secrets.address_key), Pseudonyms(secrets.pseudonym_key), codes, entropy)


def administration(
    settings: Settings, secrets: Secrets, store: Store, files: PreparedFiles, clock: Clock = system_clock
) -> Administration:
    """Return what responds on the admin port."""
    tasks = operator_tasks(settings, secrets, store)
    hosts = frozenset({settings.public_host, *settings.admin_hosts})
    page = AdminPage(settings.pages_name, settings.pages_colour, settings.pages_languages, files.client, files.favicon)
    keys = AdminKeys(store, clock, system_entropy)
    clients = ClientAddress(settings.client_ip_header, settings.trusted_proxies)
    return Administration(tasks, keys, tasks.addresses, clients, hosts, page)


def relay_server(settings: Settings, secrets: Secrets, store: Store, files: PreparedFiles) -> RelayServer | None:
    """Return a worker's end of the admin port; None without one."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    return RelayServer(Path(folder), administration(settings, secrets, store, files).respond)
