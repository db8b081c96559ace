"""The table of commands.

Each row contains the name of the command's module, so that `--help` need not import any of the modules.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_command

from holdfast import __version__
from holdfast.cli.exits import Exit
from holdfast.cli.output import fail, print_no_more
from holdfast.wire import logs
from holdfast.wire.file_errors import NO_ROOM, UNUSABLE, file_words
from holdfast.wire.installing import install_command

COMMANDS: dict[str, tuple[str, str]] = {
    "vault": ("holdfast.cli.vault", "The vault on this machine."),
    "register": ("holdfast.cli.register", "Register the vault's DID under a handle, address or number."),
    "whoami": ("holdfast.cli.whoami", "Your DID and its identifier at the service."),
    "account": ("holdfast.cli.account", "Owners, guardians and permissions of the smart account."),
    "pay": ("holdfast.cli.pay", "Pay from the vault's smart account."),
    "payments": ("holdfast.cli.payments", "The payments that the vault's devices made."),
    "balance": ("holdfast.cli.balance", "An account's balance."),
    "serve": ("holdfast.cli.serve", "Run the service."),
    "ready": ("holdfast.cli.ready", "Ask whether the service is ready."),
    "config": ("holdfast.cli.config", "Print the effective settings, secrets masked."),
    "check": ("holdfast.cli.check", "Check each upstream, key, clock and permission; say what to fix."),
    "keys": ("holdfast.cli.keys", "Make keys."),
    "backup": ("holdfast.cli.backup", "Copy the database while the service runs."),
    "restore": ("holdfast.cli.restore", "Put a copy in the database's place."),
    "migrate": ("holdfast.cli.migrate", "Bring the database's schema up to date, or move it to PostgreSQL."),
    "export": ("holdfast.cli.export", "Print the database as JSON lines."),
    "reserved": ("holdfast.cli.reserved", "Look at and change the reserved handles."),
    "invitation": ("holdfast.cli.invitation", "Invite people to register."),
    "ban": ("holdfast.cli.ban", "Keep names, DIDs, mail domains and networks from registering."),
    "acts": ("holdfast.cli.acts", "What operators did, and who."),
    "admin-key": ("holdfast.cli.admin_key", "Keys with which operators use the admin port."),
    "identifier": ("holdfast.cli.identifier", "List, count, look at and change identifiers."),
    "credential": ("holdfast.cli.credential", "Remove a credential's registration."),
    "person": ("holdfast.cli.person", "Copy or delete what is stored about a person."),
    "attestation": ("holdfast.cli.attestation", "Check attestations."),
    "enclave": ("holdfast.cli.enclave", "Publish the enclave that services serve, or check one."),
    "dev": ("holdfast.cli.dev", "Run the service on a local chain with everything around it."),
    "sponsor": ("holdfast.cli.sponsor", "Pay for people's operations: the paymaster, its deposit and budgets."),
    "contracts": ("holdfast.cli.contracts", "Deploy the contracts, or check what a chain carries."),
    "indexer": ("holdfast.cli.indexer", "Follow the registry on its chain and answer lookups."),
}

# The packages that a plain installation lacks, and the extra that installs them.
EXTRAS = {
    **dict.fromkeys(
        ("cryptography", "eth_abi", "fido2", "httpx2", "keyring", "segno"),
        "client",
    ),
    **dict.fromkeys(("eth_keys", "eth_utils"), "world"),
    "asyncpg": "postgres",
    "libp2p": "p2p",
}


def present() -> dict[str, tuple[str, str]]:
    """Return the commands that this installation supports. `holdfast-vault-client` has only a vault's."""
    return {name: row for name, row in COMMANDS.items() if find_spec(row[0]) is not None}


@cache
def command_of(name: str) -> object:
    """Import a command's module and return its command. Typer takes a tenth of a second to make a large group's."""
    command = get_command(import_module(COMMANDS[name][0]).app)
    command.name = name
    return command


class LazyGroup(TyperGroup):
    """A group whose commands are in the modules that `COMMANDS` lists. Each module has a Typer `app`."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        names: dict[str, Any] = dict.fromkeys(present())
        self.commands = names  # of which typer suggests one for a mistyped one

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002 - typer's signature
        """Return the commands' names in the order of the table."""
        return list(present())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - typer's signature
        """Import the command's module. Exits with CONFIGURATION if the installation lacks a package that it needs."""
        if cmd_name not in COMMANDS:
            return None
        if find_spec(COMMANDS[cmd_name][0]) is None:
            _fail(Exit.CONFIGURATION, f"{cmd_name} is not part of holdfast-vault-client, but of holdfast-vault")
        return command_of(cmd_name)

    def format_commands(self, ctx: object, formatter: Any) -> None:  # noqa: ARG002 - typer's signature
        """List the commands with their help texts, without importing their modules."""
        rows = [(name, row[1]) for name, row in present().items()]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


# Typer's own exception printer is disabled, because it may show local variables and thereby secrets.
application = typer.Typer(
    cls=LazyGroup,
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


_UsageError: Any = typer.BadParameter.__base__  # typer exports no name for it


def _version(value: bool) -> None:
    if value:
        typer.echo(f"holdfast {__version__}")
        raise typer.Exit


@application.callback(help="Self-hosted registration and identity vault. `holdfast COMMAND --help` says more.")
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    """Options before a command."""


def root() -> int:
    """Run the command line, and return an exit code from `holdfast.cli.exits`.

    Warnings that are logged go to stderr, without the messages of exceptions, which may quote secrets. Commands that
    serve configure their logs anew, as their settings say.
    """
    logs.configure("text", "warning")
    try:
        result = _called()
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        _fail(Exit.CONFIGURATION, f"this command needs {error.name}: {install_command(extra)}")
    except BrokenPipeError:
        print_no_more(sys.stdout)
        return int(Exit.FAILED)
    except OSError as error:
        _check_certificates()
        if error.errno in NO_ROOM:
            print_no_more(sys.stdout)
            _fail_at(error, "cannot be written", "make room, and call this again")
        if error.errno in UNUSABLE and error.filename:
            _fail_at(error, "cannot be used", "name another, or call this as a user who may")
        raise
    return int(result or 0)


def _called() -> Any:
    """Run the command, and write what it printed: an error at the end of the process would end in Python's words."""
    words = _words(_arguments())
    try:
        return get_command(application)(words, standalone_mode=False)
    except _UsageError as error:
        if "--json" in words:
            _fail(Exit.USAGE, error.format_message())
        error.show()
        return Exit.USAGE
    except typer.Abort as error:  # at a question
        _fail(Exit.INTERRUPTED if isinstance(error.__context__, KeyboardInterrupt) else Exit.FAILED, "aborted")
    finally:
        sys.stdout.flush()


def _arguments() -> list[str]:
    """Return the command line's words. Exits with USAGE for bytes that are not text: nothing can store them."""
    given = sys.argv[1:]
    try:
        "".join(given).encode()
    except UnicodeEncodeError:
        _fail(Exit.USAGE, "an argument is not text in UTF-8")
    return given


def _fail_at(error: OSError, what: str, what_to_do: str) -> NoReturn:
    """Say which file or folder cannot be used and why, and exit with UNAVAILABLE."""
    where = error.filename or "the output"
    _fail(Exit.UNAVAILABLE, f"{where} {what}: {file_words(error)}; {what_to_do}")


def _fail(code: Exit, message: str) -> NoReturn:
    fail(code, message, as_json="--json" in sys.argv)


def _check_certificates() -> None:
    """Exit if SSL_CERT_FILE, which HTTP clients read when they are made, names no certificates."""
    import ssl  # only here, so that commands without HTTP start without it

    file = os.environ.get("SSL_CERT_FILE")
    if file:
        try:
            ssl.create_default_context(cafile=file)
        except OSError:  # ssl.SSLError is one
            _fail(Exit.CONFIGURATION, f"SSL_CERT_FILE: {file} cannot be read as certificates in PEM")


def _words(given: list[str]) -> list[str]:
    """Return the words of the command line; `help COMMAND` means `COMMAND --help`."""
    return [*given[1:], "--help"] if given[:1] == ["help"] else given
