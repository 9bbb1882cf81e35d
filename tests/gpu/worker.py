"""A process that judges ops, one line of JSON for each line that it is given: ``python -m tests.gpu.worker``.

A kernel that reads or writes where it must not spoils a GPU's context for good, so ops are judged in processes that
may end; see `workers`.
"""

import json
import sys
import warnings

from tests.gpu import place  # first: it sets what numba reads when it is imported


def main() -> None:
    """Answer until there is nothing more to read."""
    warnings.simplefilter("ignore", RuntimeWarning)
    from tests.gpu.table import verdict

    place.require()
    answers = sys.stdout
    sys.stdout = sys.stderr  # what others print is no answer
    for line in sys.stdin:
        name, mode = line.split()
        answers.write(json.dumps(verdict(name, mode)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
