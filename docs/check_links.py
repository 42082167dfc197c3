"""Check every internal link of the built site, anchors too: ``python docs/check_links.py build/docs/html``."""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Links(HTMLParser):
    """The targets and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.anchors = set(), {""}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        """Collect what a tag links to, and where it can be linked to."""
        found = dict(attributes)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        self.targets |= {found[name] for name in ("href", "src") if found.get(name)}


@cache
def links(page):
    """Read a page once."""
    return Links(page.read_text())


def broken(page):
    """Return the internal links of a page that lead nowhere."""
    wrong = []
    for target in links(page).targets:
        parts = urlsplit(target)
        if parts.scheme or parts.netloc:
            continue
        place = (page.parent / unquote(parts.path)).resolve() if parts.path else page
        known = place.is_file() and (place.suffix != ".html" or unquote(parts.fragment) in links(place).anchors)
        if not known:
            wrong.append(target)
    return wrong


def main(folder):
    """Print broken links, and return their number."""
    pages = [page for page in sorted(Path(folder).resolve().rglob("*.html")) if "_static" not in page.parts]
    found = [(page, target) for page in pages for target in broken(page)]
    for page, target in found:
        print(f"{page}: {target} leads nowhere")
    return len(found)


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1]), 1))
