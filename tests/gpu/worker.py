"""A process that tests ops, one line of JSON for each line that it receives: ``python -m tests.gpu.worker``.

An invalid memory access of a kernel destroys the GPU context for good, so ops are tested in processes that may end; see
`workers`.
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
    sys.stdout = sys.stderr  # what others print is not an answer
    for line in sys.stdin:
        name, mode = line.split()
        answers.write(json.dumps(verdict(name, mode)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
