"""The command: write the pages, or with --check say which are out of step with the code."""

import sys

from recipes.reference.pages import main

if __name__ == "__main__":
    sys.exit(main())
