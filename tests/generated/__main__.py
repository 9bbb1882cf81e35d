"""Write the generated pages; with ``--check``, only report which of them are stale."""

import sys

from tests.generated import PAGES
from tests.tree import shown


def main(check: bool) -> int:
    """Write or check all pages; the status is 1 if a page that was checked is stale."""
    stale = [path for path, page in PAGES.items() if not path.exists() or path.read_text(encoding="utf-8") != page()]
    for path in stale:
        if not check:
            path.write_text(PAGES[path](), encoding="utf-8")
        print(f"{shown(path)} is not what the program says; renew it with `make docs-renew`" if check
              else f"wrote {shown(path)}")  # fmt: skip
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
