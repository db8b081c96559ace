"""The startup banner, which shows what is configured and what is not, without any secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast import __version__

if TYPE_CHECKING:
    from holdfast.service.settings.secrets import Secrets
    from holdfast.service.settings.values import Settings

_DEVELOPMENT = "outbox (development: codes go to files and the log)"

_WITHOUT_BUNDLER = {
    "deferred": "registrations are not put on the chain, and stay without a transaction; set HOLDFAST_BUNDLER_URL",
    "required": "a registration needs a transaction, which this service cannot send; set HOLDFAST_BUNDLER_URL",
}


def facts(settings: Settings, secrets: Secrets, address: str) -> dict[str, str]:
    """Return the label and the value of each line of the banner."""
    return {
        "listening on": address,
        "public URL": settings.public_url,
        "data": str(settings.data_dir),
        "signing key": "generated in the data folder (set ATTESTATION_SIGNING_KEY for production)"
        if secrets.generated
        else f"configured ({len(secrets.signing_keys)} in use)",
        "registration": settings.registration,
        "e-mail": _sender(settings, "email", settings.mail_url),
        "SMS": _sender(settings, "sms", settings.sms_url),
        "chain": _chains(settings),
        "bundler": _set(
            settings.bundler_url,
            _WITHOUT_BUNDLER[settings.registration_proof],
        ),
        "indexer": settings.indexer_app
        or _set(settings.indexer_url, "/api/indexer answers 503; set HOLDFAST_INDEXER_URL or HOLDFAST_INDEXER_APP"),
        "enclave": _set(settings.enclave_url, "the bundled copy"),
        "snapshots": _snapshots(settings),
        "metrics": f"port {settings.admin_port}" if settings.admin_port else "off (HOLDFAST_ADMIN_PORT)",
        "processes": f"{settings.workers} on {settings.server}",
    }


def banner(settings: Settings, secrets: Secrets, address: str) -> str:
    """Return the banner's lines."""
    lines = [f"Holdfast {__version__} ({settings.env})"]
    lines += [f"  {label:13} {value}" for label, value in facts(settings, secrets, address).items()]
    return "\n".join(lines)


def _chains(settings: Settings) -> str:
    from holdfast.rules.chains import money_text
    from holdfast.service.settings.chains import served_chains

    served = served_chains(settings)
    main = money_text(served.main.name, settings.chain, test_money=served.main.test_money)
    return f"{main}; also served: {', '.join(str(chain) for chain in served.chains if chain != settings.chain)}"


def _sender(settings: Settings, channel: str, url: str) -> str:
    if channel not in settings.channels:
        return "off (HOLDFAST_CHANNELS)"
    scheme = url.partition(":")[0]
    return _DEVELOPMENT if scheme == "outbox" else scheme


def _snapshots(settings: Settings) -> str:
    if settings.snapshots == "off":
        return "off (HOLDFAST_SNAPSHOTS)"
    if settings.blocks_stay_here:
        return "blocks in a folder of this machine; several nodes need one that they share (HOLDFAST_SNAPSHOTS_URL)"
    return "blocks in a folder" if settings.snapshots_url.startswith("file:") else "blocks in a bucket"


def _set(url: str | None, otherwise: str) -> str:
    return "configured" if url else f"none: {otherwise}"
