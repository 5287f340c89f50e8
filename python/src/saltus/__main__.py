"""The command line: ``python -m saltus``, and the program ``saltus``."""

from __future__ import annotations

import sys

from . import _saltus


def main() -> int:
    return _saltus.main(["saltus", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
