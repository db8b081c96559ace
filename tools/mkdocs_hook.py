"""Lets pages in `docs/` link to Markdown files elsewhere, and adds the JavaScript reference, which TypeDoc writes.

A page contains a link such as `../SECURITY.md`, which works when the repository is browsed. The site contains only
`docs/`, so this hook adds the files in PAGES under `repository/` and rewrites the links to and from them.

TypeDoc reads the types in `browser/src` and writes Markdown to `build/reference/javascript`.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from holdfast.world.node import search_path

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = ("ARCHITECTURE.md", "CHANGELOG.md", "SECURITY.md", "enclave/ABI.md")
PREFIX = "repository/"
TYPEDOC = ROOT / "tools" / "typedoc"
JAVASCRIPT = "reference/javascript"
LINK = re.compile(r"\[([^\]\n]+)\]\(([^)\s#:]+)(#[^)\s]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside `docs/`.

    Raises PluginError if TypeDoc fails or is not installed.
    """
    for page in PAGES:
        files.append(File.generated(config, PREFIX + page, abs_src_path=str(ROOT / page)))
    for written in _javascript_reference():
        files.append(File.generated(config, f"{JAVASCRIPT}/{written.name}", abs_src_path=str(written)))
    return files


def _javascript_reference() -> list[Path]:
    """Return the pages that TypeDoc writes; it runs only after a change, because it takes ten seconds."""
    folder = ROOT / "build" / JAVASCRIPT
    sources = [*(ROOT / "browser" / "src").rglob("*.ts"), TYPEDOC / "typedoc.json", TYPEDOC / "package-lock.json"]
    newest = max(source.stat().st_mtime for source in sources)
    pages = sorted(folder.glob("*.md"))
    if not pages or min(page.stat().st_mtime for page in pages) < newest:
        _run_typedoc()
    return sorted(folder.glob("*.md"))


def _run_typedoc() -> None:
    command = ["node", str(TYPEDOC / "node_modules/typedoc/bin/typedoc"), "--options", str(TYPEDOC / "typedoc.json")]
    environment = {**os.environ, "PATH": search_path(), "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise PluginError(f"TypeDoc failed; is it installed (make setup)?\n{done.stdout}{done.stderr}")


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite links on a page that lead out of `docs/` or work only in the repository."""
    _ = config, files
    here = page.file.src_uri
    folder = (ROOT / here.removeprefix(PREFIX) if here.startswith(PREFIX) else DOCS / here).parent
    return LINK.sub(lambda link: _rewritten(link, folder, Path(here).parent), markdown)


def _rewritten(link: re.Match[str], folder: Path, site_folder: Path) -> str:
    """Return the link for the site, or only the link's text if the file is not on the site."""
    text, target, anchor = link.groups()
    path = Path(os.path.normpath(folder / target))
    if path.is_relative_to(DOCS):
        place = path.relative_to(DOCS).as_posix()
    elif path.is_relative_to(ROOT) and path.relative_to(ROOT).as_posix() in PAGES:
        place = PREFIX + path.relative_to(ROOT).as_posix()
    else:
        return text if path.exists() else link.group()
    return f"[{text}]({os.path.relpath(place, site_folder)}{anchor or ''})"
