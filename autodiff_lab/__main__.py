"""``python -m autodiff_lab``: the command `autodiff-lab`, also where scripts are not on the path."""

import sys

from autodiff_lab.cli import main

if __name__ == "__main__":
    sys.exit(main())
