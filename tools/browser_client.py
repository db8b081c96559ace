"""Write browser/src/generated/ for the JavaScript client: endpoints, types, contracts, and the enclave's hash.

The methods come from `holdfast/wire/endpoints.py`, their types from `wire/requests.py` and `wire/models.py`, and
the client-side types from `interface/client_types.json`. The table of trusted endings comes from
`rules/handle_forms.py`, the common passwords from `client/vault/passwords.py`. Fields have the same names in JSON and
in JavaScript.
"""

from __future__ import annotations

import json
import sys
import types
import typing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.chain import gas
from holdfast.chain.contracts.addresses import APP_FACTORY
from holdfast.chain.entry_points import ENTRY_POINTS
from holdfast.client.types import service
from holdfast.client.types.base import Octets
from holdfast.client.vault import calls, passwords
from holdfast.rules.chains import CHAINS
from holdfast.rules.handle_forms import BEFORE_COUNTRY, ENDINGS
from holdfast.wire import endpoints, errors, models, retries

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "browser" / "src" / "generated"
RECORDED = ROOT / "enclave" / "enclave.sha256"
INTERFACE = ROOT / "interface" / "client_types.json"
# Endpoints for which http/service.ts has a handwritten method, because their declaration does not suffice.
BY_HAND = frozenset({"bundler", "indexer"})
_HEAD = "/** Written by `tools/browser_client.py` from {source}; not edited by hand. */\n"
_OUR_FAILURE = 500
_JSON = {
    str: "string",
    int: "number",
    bool: "boolean",
    type(None): "null",
    float: "number",
    Any: "unknown",
    msgspec.Raw: "unknown",
    Octets: "number[]",
}
_INTERFACE = {"number[]": "number[]", "map<string>": "Record<string, string>", "object": "Record<string, unknown>"}
# Types that are more precise here than in the table: a generic type, and fields that also accept bytes or numbers.
_GENERIC = {"ExecOutput": "T"}
_BYTES_TOO = {("VaultImportOptions", "data"), ("CredentialDescriptor", "id"), ("LoadInput", "database")}
_BYTES_TOO |= {("UnlockInput", "database")}
_NUMBERS_TOO = {("GetSmartAccountAddressInput", "salt"): "string | number | bigint"}
# The service reads this field itself, because its errors depend on what is wrong with it.
_READ_LATER = {("RegisterDid", "attestation"): "Attestation | null"}
# The constants by which an endpoint's answers differ.
_DISTINGUISHING = frozenset({"found", "verified"})
# The answers to requests that the vault's key signs, and what the enclave returns beyond the interface's types.
_MORE_TYPES: tuple[type[msgspec.Struct], ...] = (
    *(models.PersonExport, models.PersonRemoved, models.AddressAdded),
    *(calls.MintedUcan, calls.UcanClaims, calls.SignedAccountMessage, calls.PublishingKey),
)


DECLARED = [it for it in endpoints.ENDPOINTS if it.client]


def files() -> dict[Path, str]:
    """Return the text of each generated file."""
    texts = {
        "endpoints.ts": _endpoints(),
        "forms.ts": _forms(),
        "handle_forms.ts": _handle_forms(),
        "passwords.ts": _passwords(),
        "types.ts": _types(),
        "resources.ts": _resources(),
        "enclave.ts": _enclave(),
        "contracts.ts": _contracts(),
        "chains.ts": _chains(),
        "gas.ts": _gas(),
        "retries.ts": retry_table(retries.REQUESTS),
        "chain_retries.ts": retry_table(retries.CHAIN),
        "snapshot_retries.ts": retry_table(retries.SNAPSHOTS),
        "operation_retries.ts": retry_table(retries.OPERATIONS),
        "registration_retries.ts": retry_table(retries.REGISTRATIONS),
    }
    return {FOLDER / name: text for name, text in texts.items()}


def _resources() -> str:
    head = _HEAD.format(source="`interface/client_types.json`")
    values = json.loads(INTERFACE.read_text())["types"]["Resource"]["values"]
    return f"{head}\n/** Every table of a vault. */\nexport const RESOURCES = {json.dumps(values)};\n"


def _chains() -> str:
    head = _HEAD.format(source="`src/holdfast/rules/chains.py`")
    about = "/** Block explorers that show a user operation by its hash, keyed by chain ID. */\n"
    rows = "".join(f'  {chain.chain_id}: "{chain.explorer}",\n' for chain in CHAINS.values())
    return f"{head}\n{about}export const EXPLORERS: Record<number, string> = {{\n{rows}}};\n"


def _gas() -> str:
    head = _HEAD.format(source="`src/holdfast/chain/gas.py`, which describes the values")
    return head + "\n" + "".join(f"export const {name} = {it}n;\n" for name, it in vars(gas).items() if name.isupper())


def retry_table(table: Any) -> str:
    """Return a table's values as constants: times in milliseconds, rules as objects."""
    head = _HEAD.format(source="`src/holdfast/wire/retries.py`, which describes the values")
    return head + "\n" + "".join(f"export const {_retry(*item)};\n" for item in table._asdict().items())


def _retry(name: str, value: Any) -> str:
    if name.endswith("_s"):
        times = [round(it * 1000) for it in value] if isinstance(value, tuple) else round(value * 1000)
        return f"{name.removesuffix('_s').upper()}_MS = {times}"
    if name == "rules":
        rows = "".join(
            f"  {{ {', '.join(f'{key}: {json.dumps(it)}' for key, it in row._asdict().items())} }},\n" for row in value
        )
        return f"RULES = [\n{rows}]"
    return f"{name.upper()} = {json.dumps(value)}"


def _handle_forms() -> str:
    head = _HEAD.format(source="`src/holdfast/rules/handle_forms.py`")
    endings = f"/** The endings of host names that people trust. */\nexport const ENDINGS = {json.dumps(ENDINGS)};\n"
    about = "/** Labels that make such a host name together with a country's domain. */\n"
    return f"{head}\n{endings}\n{about}export const BEFORE_COUNTRY = {json.dumps(BEFORE_COUNTRY)};\n"


def _passwords() -> str:
    head = _HEAD.format(source="`src/holdfast/client/vault/passwords.py`")
    about = "/** Common passwords and parts of them, which count as one character. */\n"
    return f"{head}\n{about}export const WORDS = {json.dumps(passwords.WORDS, ensure_ascii=False)};\n"


def _enclave() -> str:
    head, recorded = _HEAD.format(source="`enclave/enclave.sha256`"), RECORDED.read_text().split()[0]
    about = "\n/** SHA-256 of the enclave module that this release was built with. */\n"
    return f'{head}{about}export const ENCLAVE_SHA256 = "{recorded}";\n'


def _contracts() -> str:
    head = _HEAD.format(source="`src/holdfast/chain/` and `src/holdfast/rules/chains.py`")
    versions = json.dumps([each.address for each in ENTRY_POINTS])
    usdc = json.dumps({number: chain.usdc for number, chain in CHAINS.items() if chain.usdc})
    return (
        f'{head}\n/** The factory of this release\'s accounts. */\nexport const APP_FACTORY = "{APP_FACTORY}";\n'
        f"\n/** The versions of the entry point that accounts obey. */\nexport const ENTRY_POINTS = {versions};\n"
        "\n/** USDC, by the chain's ID. */\n"
        f"export const USDC: Record<number, string | undefined> = {usdc};\n"
    )


def _endpoints() -> str:
    declared = [it for it in DECLARED if it.name not in BY_HAND]
    head = _HEAD.format(source="`src/holdfast/wire/endpoints.py`")
    imports = '\nimport type * as types from "./types.ts";\n'
    about = "\n/** A method for each endpoint whose declaration says all that a client needs. */\n"
    body = "\n".join(_method(it) for it in declared)
    return f"{head}{imports}{about}export class EndpointMethods {{\n{_CALL}\n{body}}}\n"


# The indexer's answers, and those to requests that the vault's key signs.
_MORE_FORMS: tuple[type[msgspec.Struct], ...] = (
    *(service.IndexerAlias, service.IndexerDid, service.IndexerAccount, service.IndexerStats, service.IndexerHealth),
    *(service.IndexerAccounts, service.IndexerEvents),
    *(service.PersonRemoved, service.AddressAdded, service.AccountState),
)
_LETTERS = {str: "s", int: "n", bool: "b", type(None): "z"}


def _forms() -> str:
    head = _HEAD.format(source="`src/holdfast/client/types/service.py`")
    imports = '\nimport type { Form } from "../http/forms.ts";\n'
    about = "\n/** What answers must have, as `fits` in http/forms.ts reads it. */\n"
    found = {it for endpoint in DECLARED if (it := _form_of(endpoint)) and _is_found(endpoint)}
    named = dict.fromkeys([it for endpoint in DECLARED if (it := _form_of(endpoint))] + [*_MORE_FORMS])
    rows = "".join(f"  {it.__name__}: {_struct_form(it, found=it in found)},\n" for it in named)
    return f"{head}{imports}{about}export const FORMS: Record<string, Form> = {{\n{rows}}};\n"


def _form_of(endpoint: endpoints.Endpoint[Any]) -> type[msgspec.Struct] | None:
    """Return the Python client's type of the endpoint's answers, or None if it takes any JSON."""
    if endpoint.answers in service.MERGED:
        return service.MERGED[endpoint.answers]
    if not endpoint.answers or (len(endpoint.answers) > 1 and not _is_found(endpoint)):
        return None
    kind: type[msgspec.Struct] = getattr(service, endpoint.answers[0].__name__, endpoint.answers[0])
    return kind


def _is_found(endpoint: endpoints.Endpoint[Any]) -> bool:
    more = [[it.name for it in msgspec.structs.fields(answer)] for answer in endpoint.answers[1:]]
    return more == [["found"]]


def _struct_form(struct: type[msgspec.Struct], *, found: bool = False) -> str:
    hints = typing.get_type_hints(struct, include_extras=True)
    fields = ", ".join(
        f"{it.encode_name}: {_form(hints[it.name], '' if it.required else 'u')}"
        for it in msgspec.structs.fields(struct)
    )
    return f"[{{ {fields} }}, {{ found: false }}]" if found else f"{{ {fields} }}"


def _form(hint: Any, more: str = "") -> str:
    kinds = [hint] if typing.get_origin(hint) not in {types.UnionType, typing.Union} else typing.get_args(hint)
    letters = more + "".join(_LETTERS[it] for it in kinds if it in _LETTERS)
    others = [_other_form(it) for it in kinds if it not in _LETTERS]
    every = [json.dumps(letters)] * bool(letters) + others
    return every[0] if len(every) == 1 else f"[{', '.join(every)}]"


def _other_form(hint: Any) -> str:
    match typing.get_origin(hint), typing.get_args(hint):
        case typing.Annotated, (_, pattern):
            return f"/{pattern.pattern}/"
        case typing.Literal, values:
            return f"/^({'|'.join(values)})$/"
        case origin, (each,) if origin is list:
            return f'{{ "[]": {_form(each)} }}'
        case origin, _ if origin is dict:
            return "{}"
    return _struct_form(hint)


_CALL = """  /**
   * Sends one request. Overridden by the service client.
   *
   * @param _asked fields of the query or of the JSON body
   * @returns `T` is what the endpoint's `form` says
   */
  protected async _call<T>(_endpoint: types.Endpoint, _asked?: object): Promise<T> {
    throw new TypeError("_call: not implemented");
  }
"""


def _method(endpoint: endpoints.Endpoint[Any]) -> str:
    lines = [f"{endpoint.summary}: {endpoint.method} {endpoint.path}."]
    if rows := [row for row in endpoint.errors if row.status < _OUR_FAILURE and " " not in row.error]:
        lines += ["", f"@throws {{RequestRefused}} {', '.join(dict.fromkeys(row.error for row in rows))}"]
    name, kind = _parameter(endpoint)
    more = _keyed(endpoint) + (f', form: "{form.__name__}"' if (form := _form_of(endpoint)) else "")
    call = f'{{ method: "{endpoint.method}", path: "{endpoint.path}", reads: "{_reads(endpoint)}"{more} }}'
    given = f"{call}, {name}" if name else call
    head = f"{_camel(endpoint.name)}({name}{kind}): Promise<{_answer(endpoint)}>"
    return f"{_comment(lines, '  ')}  {head} {{\n    return this._call({given});\n  }}\n"


def _comment(lines: Sequence[str], indent: str = "") -> str:
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    return f"{indent}/**\n" + "".join(f"{indent} * {line}".rstrip() + "\n" for line in lines) + f"{indent} */\n"


def _parameter(endpoint: endpoints.Endpoint[Any]) -> tuple[str, str]:
    if endpoint.input is not None:
        return "fields", f": types.{endpoint.input.__name__}"
    return ("body", "?: object") if endpoint.method in {"POST", "PUT"} else ("", "")


def _answer(endpoint: endpoints.Endpoint[Any]) -> str:
    if endpoint.answers:
        return " | ".join(f"types.{answer.__name__}" for answer in endpoint.answers)
    return {"json": "unknown", "text": "string", "bytes": "ArrayBuffer"}[_reads(endpoint)]


def _keyed(endpoint: endpoints.Endpoint[Any]) -> str:
    return ", keyed: true" if endpoint.keyed else ""


def _reads(endpoint: endpoints.Endpoint[Any]) -> str:
    if endpoint.media == "application/json":
        return "json"
    return "text" if endpoint.media.startswith(("text/", "image/svg")) else "bytes"


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _types() -> str:
    head = _HEAD.format(source="`interface/client_types.json`, `src/holdfast/wire/` and its error table")
    named = json.loads(INTERFACE.read_text())["types"]
    wire = [answer for it in DECLARED for answer in it.answers] + [models.Attestation, models.ErrorBody]
    inputs = [it.input for it in DECLARED if it.input is not None]
    parts = [_named(name, entry) for name, entry in named.items()]
    parts += [_struct(it) for it in _with_parts([*inputs, *wire, *_MORE_TYPES]) if it.__name__ not in named]
    parts += [_codes(), _ENDPOINT]
    return head + "\n" + "\n\n".join(parts) + "\n"


_ENDPOINT = """/** One request's form. */
export interface Endpoint {
  method: string;
  path: string;
  reads: "json" | "text" | "bytes";
  /** the request is sent with an `Idempotency-Key`, because the service stores its response */ keyed?: boolean;
  /** which of generated/forms.ts the response must have */ form?: string;
}"""


def _codes() -> str:
    codes = sorted({row.error for row in vars(errors).values() if isinstance(row, errors.ErrorRow)})
    union = " | ".join(json.dumps(code) for code in codes)
    return f"/** The service's error texts. */\nexport type ErrorCode = {union};"


def _named(name: str, entry: dict[str, Any]) -> str:
    match entry["kind"]:
        case "record":
            fields = "".join(_named_field(name, *item) for item in entry["fields"].items())
            template = f"<{_GENERIC[name]}>" if name in _GENERIC else ""
            return f"export interface {name}{template} {{\n{fields}}}"
        case "enumeration":
            return f"export type {name} = {' | '.join(json.dumps(it) for it in entry['values'])};"
        case "alias":
            return f"export type {name} = {entry['type']};"
        case "function":
            return f"export type {name} = (bytes: Uint8Array | {entry['takes']}) => {entry['gives']};"
    raise ValueError(entry["kind"])


def _named_field(owner: str, name: str, field: dict[str, Any]) -> str:
    kind = _NUMBERS_TOO.get((owner, name)) or _INTERFACE.get(field["type"], field["type"])
    if (owner, name) in _BYTES_TOO:
        kind = f"{kind} | BufferSource"
    return _field(name, kind, optional=not field["required"], default=field.get("default"))


def _field(name: str, kind: str, *, optional: bool, default: object = None) -> str:
    row = f"{name}{'?' * optional}: {kind};\n"
    return f"  {row}" if default is None else f"  /** by default {json.dumps(default)} */ {row}"


def _struct(struct: type[msgspec.Struct]) -> str:
    hints = typing.get_type_hints(struct)
    later = {name: kind for (owner, name), kind in _READ_LATER.items() if owner == struct.__name__}
    fields = "".join(
        _field(it.encode_name, _constant(it) or later.get(it.name) or _json_type(hints[it.name]), **_optional(it))
        for it in msgspec.structs.fields(struct)
    )
    about = (struct.__doc__ or "").strip().splitlines()[0]
    return f"/** {about} */\nexport interface {struct.__name__} {{\n{fields}}}"


def _constant(field: msgspec.structs.FieldInfo) -> str:
    return json.dumps(field.default) if field.name in _DISTINGUISHING and isinstance(field.default, bool) else ""


def _with_parts(structs: list[Any]) -> list[type[msgspec.Struct]]:
    """Return the structs and all structs in their fields, each once."""
    found: dict[type[msgspec.Struct], None] = {}
    waiting = list(structs)
    while waiting:
        struct = waiting.pop(0)
        if struct not in found:
            found[struct] = None
            waiting += [part for hint in typing.get_type_hints(struct).values() for part in _structs_of(hint)]
    return list(found)


def _structs_of(hint: Any) -> list[type[msgspec.Struct]]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return [hint]
    return [part for argument in typing.get_args(hint) for part in _structs_of(argument)]


def _optional(field: msgspec.structs.FieldInfo) -> dict[str, Any]:
    """Return whether the field is optional, and its default; responses never omit constant fields."""
    leaves_out = field.default is msgspec.UNSET or field.default is None
    has_text = field.default is not msgspec.NODEFAULT and isinstance(field.default, str)
    return {"optional": leaves_out or has_text, "default": field.default if has_text else None}


def _json_type(hint: Any) -> str:
    if typing.get_origin(hint) in {types.UnionType, typing.Union}:
        members = [it for it in typing.get_args(hint) if it is not msgspec.UnsetType]
        return " | ".join(_json_type(it) for it in members)
    if typing.get_origin(hint) is typing.Literal:
        return " | ".join(json.dumps(it) for it in typing.get_args(hint))
    if typing.get_origin(hint) in {list, tuple}:
        return f"{_json_type(typing.get_args(hint)[0])}[]"
    if typing.get_origin(hint) is dict or hint is dict:
        return f"Record<string, {_json_type((typing.get_args(hint) or (str, Any))[1])}>"
    return str(_JSON.get(hint) or hint.__name__)


if __name__ == "__main__":
    from generated import run

    sys.exit(run(files))
