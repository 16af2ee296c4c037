#!/usr/bin/env python3
"""Every link of a document to a file of the repository resolves, and so does its anchor.

Links in Markdown are read where they stand outside of code. In other files every name of a document in `docs`, with or without an anchor, counts
as a link from the root. Anchors are compared with the headings of the file, made into names as GitHub does it.
"""

import pathlib
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^()\s]+(?:\([^()]*\))?[^()\s]*)\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
MENTION = re.compile(r"(?<![\w/.-])(?:\.\./)*(docs/(?:start/)?[\w-]+\.md)(#[\w-]+)?")
SOURCES = {
    *(".rs", ".toml", ".py", ".pyi", ".sol", ".sh", ".mjs", ".js", ".ts", ".yml", ".yaml", ".proto", ".go", ".java", ".h"),
    *(".in", ".conf", ".json", ".service", ".socket", ".timer", ".default", ""),
}


def tracked() -> list[pathlib.Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout.splitlines()
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def anchors(text: str) -> set[str]:
    """The names of a document's headings."""
    found: dict[str, int] = {}
    names = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = found.get(name, 0)
        found[name] = count + 1
        names.add(f"{name}-{count}" if count else name)
    return names


def broken(source: pathlib.Path, target: str) -> str | None:
    """Why a link of a file leads nowhere."""
    path, _, anchor = urllib.parse.unquote(target).partition("#")
    to = (source.parent / path).resolve() if path else source
    if not to.is_relative_to(ROOT) or not to.exists():
        return f"there is no {path}"
    if anchor and to.suffix == ".md" and anchor not in anchors(to.read_text()):
        return f"{path or source.name} has no heading #{anchor}"
    return None


def links(path: pathlib.Path):
    """The links of a file, each with the file that it starts from."""
    text = path.read_text(errors="ignore")
    if path.suffix == ".md":
        for target in LINK.findall(CODE.sub("", FENCE.sub("", text))):
            if not re.match(r"[a-z]+:", target):
                yield path, target
    elif path.suffix in SOURCES:
        for name, anchor in MENTION.findall(text):
            yield ROOT / "README.md", name + anchor


def main() -> None:
    count, wrong = 0, []
    for path in tracked():
        for source, target in links(path):
            count += 1
            if why := broken(source, target):
                wrong.append(f"{path.relative_to(ROOT)}: {target}: {why}")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"links: {count}, {len(wrong)} broken")
    sys.exit(bool(wrong) or not count)


if __name__ == "__main__":
    main()
