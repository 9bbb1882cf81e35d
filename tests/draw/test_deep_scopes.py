"""A runaway recursion of scopes has a bounded number of pictures, and every op is in one of them."""

import autodiff_lab as lab
from autodiff_lab.draw.graph import scope_paths
from autodiff_lab.draw.passes import DEEPEST
from autodiff_lab.draw.scene import scene


def deeper(x: lab.Tensor, levels: int) -> lab.Tensor:
    if levels == 0:
        return x
    with lab.name_scope(f"level {levels}"):
        return deeper(lab.sin(x), levels - 1)


def test_scopes_beyond_the_deepest_level_are_drawn_in_it() -> None:
    levels = 3 * DEEPEST
    x = lab.Variable(0.5, name="x")
    with lab.record() as recording:
        deeper(x.read(), levels)
    paths = [path for path in scope_paths(recording) if "turn" not in path]
    assert len(paths) == DEEPEST
    assert max(path.count("/") for path in paths) == DEEPEST - 1
    assert len(scene(recording)["steps"]) == levels
    assert recording.applications[-1].scope.count("/") == levels - 1, "the recording itself keeps the whole path"
