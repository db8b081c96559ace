"""holdfast credential."""

from holdfast.cli.identifier import credential_app as app

__all__ = ["app"]
