"""Builds the web application for one process."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from holdfast.rules.connections import ConnectionLimits
from holdfast.rules.identifiers import Channel
from holdfast.service.bootstrap.administration import relay_server
from holdfast.service.bootstrap.naming import named_setting
from holdfast.service.bootstrap.services import build_service
from holdfast.service.bootstrap.stores import open_store_when_reachable
from holdfast.service.http.client_address import ClientAddress
from holdfast.service.http.connections import ConnectionKeeper
from holdfast.service.http.large_responses import LargeResponses
from holdfast.service.settings.chains import served_chains
from holdfast.service.web.application import Application
from holdfast.service.web.context import WebContext
from holdfast.service.web.page_files import PageChoices, page_files
from holdfast.service.web.prepared import PaymentFacts, prepare
from holdfast.wire.models import ContractSet

if TYPE_CHECKING:
    from holdfast.service.http.connections import Activity
    from holdfast.service.lifecycle.service import Service
    from holdfast.service.settings.secrets import Secrets
    from holdfast.service.settings.values import Settings
    from holdfast.service.web.page_files import PageFiles


def build_application(settings: Settings, secrets: Secrets) -> Application:
    """Return the application for one process. Raises SettingError, SchemaTooNew or StoreUnavailable."""
    application = application_of(settings, build_service(settings, secrets, open_store_when_reachable(settings)))
    application.relay = relay_server(settings, secrets, application.service.store, application.files)
    return application


def application_of(settings: Settings, service: Service) -> Application:
    """Return the web application for a service."""
    client_address = ClientAddress(settings.client_ip_header, settings.trusted_proxies)
    payments = PaymentFacts(served_chains(settings).main, settings.registrar_did)
    files = prepare(contract_set(settings), settings.related_origins, payments, pages_of(settings))
    large = LargeResponses(settings.large_responses, settings.large_responses_per_address, settings.send_timeout)
    scheme = settings.public_url.partition(":")[0]
    channels = frozenset(Channel(name) for name in settings.channels)
    web = WebContext(service, files, client_address, large, scheme, own_pages(settings), channels)
    web.public_url, web.security_contact = settings.public_url, settings.security_contact
    web.registrar = settings.registrar_did
    return Application(web, access_log=settings.access_log == "on")


def own_pages(settings: Settings) -> frozenset[str] | None:
    """Return the origins whose pages may change something; None for all."""
    if settings.own_pages_only == "off":
        return None
    address = urlsplit(settings.public_url)
    return frozenset({f"{address.scheme}://{address.netloc}", *settings.related_origins})


def connection_keeper(settings: Settings, activity: Activity | None) -> ConnectionKeeper:
    """Return what watches the connections of one process."""
    limits = ConnectionLimits(settings.send_timeout, settings.idle_timeout, settings.connections_per_address)
    return ConnectionKeeper(limits, ClientAddress(settings.client_ip_header, settings.trusted_proxies), activity)


def pages_of(settings: Settings) -> PageFiles | None:
    """Return the pages' files; None if pages are disabled. Raises SettingError."""
    if settings.pages == "off":
        return None
    served = served_chains(settings)
    main, others = served.main, [chain for chain in served.chains.values() if chain is not served.main]
    choices = PageChoices(
        name=settings.pages_name,
        colour=settings.pages_colour,
        logo=settings.pages_logo,
        address=settings.public_url,
        did=settings.registrar_did,
        rpc=main.shown_rpc,
        other_rpcs=tuple(chain.shown_rpc for chain in others if chain.bundler and chain.shown_rpc),
        chain_id=main.chain_id,
        usdc=main.usdc or "",
        test_money=main.test_money,
        languages=settings.pages_languages,
        code_seconds=settings.limits.email_code_expiry_seconds,
        code_tries=settings.limits.max_verify_attempts,
        pairing=settings.pairing_host,
        faucet=settings.faucet_url or "",
        channels=settings.channels,
        registration=settings.registration,
        links=_links(settings),
    )
    return named_setting("HOLDFAST_PAGES_LOGO", page_files, choices)


def _links(settings: Settings) -> dict[str, str]:
    given = {"imprint": settings.pages_imprint, "privacy": settings.pages_privacy, "help": settings.pages_help}
    return {name: address for name, address in given.items() if address}


def contract_set(settings: Settings) -> ContractSet:
    """Return the body of GET /api/contracts."""
    return ContractSet(
        chain_id=settings.chain,
        entry_point=settings.contract_entry_point,
        did_registry=settings.contract_did_registry,
        account_helper=settings.contract_account_helper,
        session_sbt=settings.contract_session_sbt,
        app_factory=settings.contract_app_factory,
    )
