"""`python -m nbbias` is `nbbias`."""

import sys

if not sys.flags.safe_path:  # Python put the current folder first: what lies there is no module
    del sys.path[0]

from nbbias.cli import main

if __name__ == "__main__":
    main()
