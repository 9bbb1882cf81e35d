"""One comparison for each seed, with all differences shown together."""

from collections import Counter
from collections.abc import Callable

from tests.mutations import COUNT, FIRST


def compare_all(compared: Callable[[int], str], figure: Callable[[str, str], None], what: str) -> Counter[str]:
    """Return how often each outcome came; fail with what differs."""
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    for seed in range(FIRST, FIRST + COUNT):
        try:
            outcomes[compared(seed)] += 1
        except Exception as error:  # noqa: BLE001 - all of them are shown together
            outcomes["different"] += 1
            failures.append(f"seed {seed}: {type(error).__name__}: {str(error)[:600]}")
    figure(f"{what} compared with Keras", str(dict(outcomes)))
    assert not failures, "\n\n".join(failures[:40])
    return outcomes
