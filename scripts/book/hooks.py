"""What the book has beyond its own folder: the documents of the repository, and the files that they link.

Each document stands in the book at its path in the repository, so that one link serves both. A linked file that is no
document (a source, a unit of systemd) becomes a page with its text; a linked folder becomes a list of its files;
pictures and notebooks are copied.
"""

import posixpath
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, InclusionLevel

ROOT = Path(__file__).resolve().parents[2]
COPIED = {".svg", ".png", ".ipynb"}
LANGUAGES = {".rs": "rust", ".py": "python", ".sol": "solidity", ".sh": "sh", ".json": "json", ".proto": "protobuf", ".v": "coq"}
COMMONMARK = MarkdownIt("commonmark").enable(["table", "strikethrough"])

log = get_plugin_logger("book")
shown_as = {}


def on_files(files, config):
    """Adds the documents of the navigation and of docs/, then whatever those link, and so on."""
    shown_as.clear()
    waiting = [path for path in in_nav(config.nav) if not files.get_file_from_path(path)]
    waiting += [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))]
    listed = set(waiting)
    seen = set()
    while waiting:
        path = waiting.pop()
        if path in seen or not (ROOT / path).exists():
            continue
        seen.add(path)
        file = as_file(path, config, InclusionLevel.INCLUDED if path in listed else InclusionLevel.NOT_IN_NAV)
        shown_as[path] = file.src_uri
        files.append(file)
        if path.endswith(".md"):
            waiting += links((ROOT / path).read_text(), path)
    return files


def in_nav(nav):
    """Every path in the navigation."""
    if isinstance(nav, str):
        return [nav]
    entries = nav.values() if isinstance(nav, dict) else nav
    return [path for entry in entries for path in in_nav(entry)]


def as_file(path, config, inclusion):
    source = ROOT / path
    if source.suffix == ".md" or source.suffix in COPIED:
        return File.generated(config, path, abs_src_path=str(source), inclusion=inclusion)
    unsearched = "---\nsearch: { exclude: true }\n---\n"
    if source.is_dir():
        entries = sorted(entry.name for entry in source.iterdir() if entry.is_file())
        text = f"{unsearched}# {path}\n\nThe files of this folder:\n\n" + "".join(f"- `{name}`\n" for name in entries)
        return File.generated(config, f"{path}/index.md", content=text, inclusion=InclusionLevel.NOT_IN_NAV)
    language = LANGUAGES.get(source.suffix, "text")
    text = f"{unsearched}# {path}\n\n`````{language}\n{source.read_text()}\n`````\n"
    return File.generated(config, f"{path}.md", content=text, inclusion=InclusionLevel.NOT_IN_NAV)


# What rustdoc reads in the first line of a block of code, and no highlighter knows.
RUSTDOC = re.compile(r"^```rust,[a-z_,]+$", re.MULTILINE)
LINK = re.compile(r"(\]\(|<img[^>]* src=\"|<a[^>]* href=\")([^)\s\"]+)")


def links(text, document):
    """The paths in the repository of what a document links."""
    found = (target(link, document) for _, link in LINK.findall(text))
    return [path for path in found if path and (ROOT / path).exists()]


def target(link, document):
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or not parts.path:
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(document), unquote(parts.path)))
    return None if path.startswith("..") else path


# An address in an attribute or a rule that makes a browser load it. (A reader follows `<a href>`; a browser does not.)
ELSEWHERE = re.compile(r"""(?:<[^a][^>]* (?:src|data)=|<link[^>]* href=|url\(|@import )["']?((?:https?:)?//[^"')\s>]+)""")


def on_page_markdown(markdown, page, config, files):
    """Points the links of files and folders at the pages that those became."""

    def moved(match):
        path = target(match[2], page.file.src_uri)
        new = shown_as.get(path, path)
        if new == path:
            return match[0]
        relative = posixpath.relpath(new, posixpath.dirname(page.file.src_uri) or ".")
        fragment = urlsplit(match[2]).fragment
        return match[1] + relative + (f"#{fragment}" if fragment else "")

    return RUSTDOC.sub("```rust", LINK.sub(moved, markdown))


def on_post_build(config):
    """Warns of whatever a browser would load from elsewhere: the book is read without a network."""
    for page in sorted(Path(config.site_dir).rglob("*")):
        if page.suffix in {".html", ".css"}:
            for address in ELSEWHERE.findall(page.read_text()):
                log.warning(f"{page.relative_to(config.site_dir)} loads {address}")


class Counted(HTMLParser):
    """How often each kind of block stands in a page."""

    BLOCKS = ("h1", "h2", "h3", "h4", "li", "ul", "ol", "td", "th", "blockquote", "img")

    def __init__(self, html):
        super().__init__()
        self.counts = dict.fromkeys((*self.BLOCKS, "code block"), 0)
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if tag == "pre":
            self.counts["code block"] += 1
        elif tag in self.BLOCKS:
            self.counts[tag] += 1


def on_page_content(html, page, config, files):
    """Warns where the book shows other blocks than a forge: its Markdown is stricter about blank lines and indents."""
    expected = Counted(COMMONMARK.render(page.markdown)).counts
    shown = Counted(html).counts
    for block, count in expected.items():
        if shown[block] != count:
            log.warning(f"{page.file.src_uri}: {shown[block]} of `{block}` in the book, {count} on a forge")
    return html
