"""holdfast backup."""

from holdfast.cli.database import backup_app as app

__all__ = ["app"]
