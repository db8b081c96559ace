"""Write client/blocking/ from the asynchronous classes: the same names, signatures and docstrings, without `await`.

Each blocking object wraps an asynchronous one, and runs the calls in the event loop from client/blocking/loop.py.
"""

from __future__ import annotations

import ast
import builtins
import copy
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[1]
CLIENT = ROOT / "src/holdfast/client"
FOLDER = CLIENT / "blocking"
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Twin:
    """One blocking module.

    Attributes:
        target: its name in client/blocking/.
        sources: the client's modules with the asynchronous class, modules with inherited methods first.
        asynchronous: the class, or those of its bases that have no blocking class.
        base: the blocking class that this one extends.
        functions: asynchronous functions of the last source that also get a blocking form.
    """

    target: str
    sources: tuple[str, ...]
    asynchronous: tuple[str, ...]
    base: str = ""
    functions: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the blocking class."""
        return self.asynchronous[-1].removeprefix("Async")

    @property
    def module(self) -> str:
        """The dotted name of the blocking module."""
        return f"holdfast.client.blocking.{self.target}"


TWINS = (
    Twin("service_client", ("endpoint_methods", "async_service_client"), ("EndpointMethods", "AsyncServiceClient")),
    Twin(
        "client",
        ("account.methods", "account.did", "account.spending_methods", "person", "async_client"),
        ("AccountMethods", "DidMethods", "SpendingMethods", "PersonMethods", "AsyncClient"),
        base="ServiceClient",
    ),
    Twin("vault", ("vault.async_vault",), ("AsyncVault",)),
    Twin("gateway", ("storage.gateway",), ("AsyncGateway",)),
    Twin("pinning", ("storage.pinning",), ("AsyncPinning",)),
    Twin("pairing", ("sync.protocol",), ("AsyncPairingServer",), functions=("receive",)),
)
BLOCKING = {twin.asynchronous[-1]: twin for twin in TWINS}
_DUNDERS = {"__init__": "__init__", "__aenter__": "__enter__", "__aexit__": "__exit__"}


class Module:
    """Generates the source of one blocking module."""

    def __init__(self, twin: Twin) -> None:
        self._twin = twin
        self._trees = [ast.parse(_file(source).read_text()) for source in twin.sources]
        self._imports = {f"from {twin.module.rpartition('.')[0]}.loop import run"}
        self._type_imports: set[str] = set()

    def text(self) -> str:
        """The generated module's text, formatted with Ruff."""
        body = [self._class(), *(self._function(name) for name in self._twin.functions)]
        imports = "\n".join(sorted(self._imports))
        types = "".join(f"    {line}\n" for line in sorted(self._type_imports))
        checking = f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n{types}" if types else ""
        return formatted("\n\n".join([self._head(), imports, checking, *body]), FOLDER / f"{self._twin.target}.py")

    def _head(self) -> str:
        files = " and ".join(f"`holdfast/client/{source.replace('.', '/')}.py`" for source in self._twin.sources)
        about = f"`{self._twin.name}`, the blocking form of `{self._twin.asynchronous[-1]}`."
        written = f"Written by `tools/blocking_client.py` from {files};\nnot edited by hand."
        return f'"""{about}\n\n{written}\n"""\n\nfrom __future__ import annotations'

    def _class(self) -> str:
        asynchronous = self._twin.asynchronous[-1]
        self._import(asynchronous, at_run_time=True)
        if self._twin.base:
            self._import(self._twin.base, at_run_time=True)
        classes = [node for tree in self._trees for node in tree.body if isinstance(node, ast.ClassDef)]
        nodes = [node for node in classes if node.name in self._twin.asynchronous]
        about = _renamed_text(ast.get_docstring(nodes[-1]) or "")
        about += (
            "\n\nSafe to use from several threads, and where an event loop runs. Callbacks run in the calling thread."
        )
        lines = [f"class {self._twin.name}({self._twin.base}):", _indented(f'"""{about}\n"""')]
        lines += [f"    _asynchronous: {asynchronous}\n"]
        methods = {item.name: item for node in nodes for item in node.body if isinstance(item, Function)}
        self._properties = {item.name for item in methods.values() if _is_property(item)}
        lines += [_indented(self._method(item)) for item in methods.values() if _is_public(item)]
        return "\n".join(lines)

    def _function(self, name: str) -> str:
        node = next(item for item in self._trees[-1].body if isinstance(item, Function) and item.name == name)
        module = f"holdfast.client.{self._twin.sources[-1]}"
        self._imports.add(f"from {module.rpartition('.')[0]} import {module.rpartition('.')[2]}")
        return self._written(node, f"return run({module.rpartition('.')[2]}.{name}({_arguments(node.args)}))")

    def _method(self, node: Function) -> str:
        call = f"self._asynchronous.{node.name}"
        if node.name == "__init__":
            twins = [arg.arg for arg in _all(node.args) if _twin_of(arg.annotation)]
            retained = [f"self._{name} = {name}" for name in twins if name in self._properties]
            made = f"self._asynchronous = {self._twin.asynchronous[-1]}({_arguments(node.args)})"
            return self._written(node, "\n".join([made, *retained]))
        if _is_property(node):
            return self._written(node, f"return {self._existing(node, call)}")
        waited = f"run({call}({_arguments(node.args)}))"
        if node.name == "__aenter__":
            return self._written(node, f"{waited}\nreturn self")
        returns_nothing = isinstance(node.returns, ast.Constant) and node.returns.value is None
        return self._written(node, waited if returns_nothing else f"return {waited}")

    def _existing(self, node: Function, value: str) -> str:
        if not _twin_of(node.returns):
            return value
        self._imports.add("from holdfast.client.blocking.loop import existing")
        return f"existing(self._{node.name}, {value})"

    def _written(self, node: Function, body: str) -> str:
        """Return the function with the same signature and docstring, but with a different body."""
        names = list(_names([*(arg.annotation for arg in _all(node.args)), node.returns]))
        for name in names:
            self._import(BLOCKING[name].name if name in BLOCKING else name, at_run_time=False)
        for name in _names([*node.args.defaults, *node.args.kw_defaults]):
            self._import(name, at_run_time=True)
        decorators = "".join(f"@{ast.unparse(item)}\n" for item in node.decorator_list)
        returns = f" -> {_renamed(node.returns)}" if node.returns else ""
        head = f"{decorators}def {_DUNDERS.get(node.name, node.name)}({_renamed(node.args)}){returns}:\n"
        about = ast.get_docstring(node)
        docstring = f'"""{_renamed_text(about)}{chr(10) if chr(10) in about else ""}"""\n' if about else ""
        return head + _indented(docstring + body) + "\n"

    def _import(self, name: str, *, at_run_time: bool) -> None:
        line = self._line_for(name)
        if line is None:
            return
        if at_run_time or line.startswith("from typing"):
            self._imports.add(line)
        elif line not in self._imports:
            self._type_imports.add(line)

    def _line_for(self, name: str) -> str | None:
        """Return the import statement for a name that the sources use or define."""
        for twin in TWINS:
            if name == twin.name:
                return None if twin is self._twin else f"from {twin.module} import {name}"
        for source, tree in zip(self._twin.sources, self._trees, strict=True):
            if name in _defined(tree):
                return f"from holdfast.client.{source} import {name}"
            if found := _imported(tree).get(name):
                return found
        if hasattr(builtins, name):
            return None
        raise SystemExit(f"{self._twin.target}: nothing imports {name}")


def formatted(text: str, file: Path) -> str:
    """Return the text after sorting its imports and formatting it with Ruff."""
    ruff = (Path(sys.executable).parent / "ruff").as_posix()
    for command in (("check", "--select", "I", "--fix", "--quiet"), ("format", "--quiet")):
        arguments = [ruff, *command, "--stdin-filename", str(file), "-"]
        text = subprocess.run(arguments, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def _file(source: str) -> Path:
    return CLIENT / (source.replace(".", "/") + ".py")


def _is_public(node: Function) -> bool:
    return not node.name.startswith("_") or node.name in _DUNDERS


def _is_property(node: Function) -> bool:
    return any(isinstance(item, ast.Name) and item.id == "property" for item in node.decorator_list)


def _all(arguments: ast.arguments) -> list[ast.arg]:
    more = [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    return [*arguments.args, *arguments.kwonlyargs, *more]


def _arguments(arguments: ast.arguments) -> str:
    """Return the arguments of the asynchronous call, in which blocking objects are replaced by the wrapped ones."""
    given = [_value(item) for item in arguments.args if item.arg != "self"]
    given += [f"*{arguments.vararg.arg}"] if arguments.vararg else []
    given += [f"{item.arg}={_value(item)}" for item in arguments.kwonlyargs]
    given += [f"**{arguments.kwarg.arg}"] if arguments.kwarg else []
    return ", ".join(given)


def _value(argument: ast.arg) -> str:
    if not _twin_of(argument.annotation):
        return argument.arg
    if isinstance(argument.annotation, ast.BinOp):
        return f"None if {argument.arg} is None else {argument.arg}._asynchronous"
    return f"{argument.arg}._asynchronous"


def _twin_of(annotation: ast.expr | None) -> bool:
    return any(name in BLOCKING for name in _names([annotation]))


def _names(nodes: Iterable[ast.AST | None]) -> Iterator[str]:
    for node in nodes:
        yield from (item.id for item in ast.walk(node) if isinstance(item, ast.Name)) if node else ()


def _renamed(node: ast.AST) -> str:
    """Return the source of a node, with the asynchronous classes' names replaced by the blocking ones."""
    copied = copy.deepcopy(node)
    for item in ast.walk(copied):
        if isinstance(item, ast.Name) and item.id in BLOCKING:
            item.id = BLOCKING[item.id].name
    return ast.unparse(copied)


def _renamed_text(text: str) -> str:
    for name, twin in BLOCKING.items():
        text = text.replace(name, twin.name)
    return text


def _defined(tree: ast.Module) -> set[str]:
    classes = {node.name for node in tree.body if isinstance(node, ast.ClassDef | Function)}
    assigned = [node.targets[0] for node in tree.body if isinstance(node, ast.Assign)]
    return classes | {target.id for target in assigned if isinstance(target, ast.Name)}


def _imported(tree: ast.Module) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name: f"import {alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.name: f"from {node.module} import {alias.name}" for alias in node.names}
    return found


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())


def modules() -> dict[Path, str]:
    """Return the text of each module."""
    return {FOLDER / f"{twin.target}.py": Module(twin).text() for twin in TWINS}


if __name__ == "__main__":
    from generated import run

    sys.exit(run(modules))
