"""What a learner does in lessons 14a and 14b, by keys: reads a program, plays the board of checkpoints to par."""

from tests.browser.cells import cell, choose, photograph, type_code, type_prediction
from tests.browser.conftest import Screenshot
from tests.browser.view import View
from tests.lessons.answers import SOLVED


def open_lesson_14a(view: View, screenshot: Screenshot) -> None:
    """Open the bars, the program, the pieces and the cold call; solve every exercise."""
    type_prediction(view, "question", "320", "32")
    cell(view, "observe-it").locator("svg.lab-chart").wait_for()
    assert "48 too little" in cell(view, "observe-it").locator("table").first.inner_text()
    shown = cell(view, "observe-program").locator(".lab-program-view")
    shown.wait_for()
    assert "10 ops forward" in shown.locator(".summary").inner_text()
    shown.locator(".program .row", has_text="tanh").click()
    assert "step: takes the hyperbolic tangent" in shown.locator(".said").inner_text()
    view.page.keyboard.press("ArrowDown")
    assert "multipl" in shown.locator(".said").inner_text()
    for question, answer, bars in (("cache-question", "cache-answer", [3, 2]), ("cold-question", "cold-answer", [3])):
        choose(view, question, 0)
        charts = cell(view, answer).locator("svg.lab-chart")
        charts.nth(len(bars) - 1).wait_for()
        assert [charts.nth(n).locator(".lab-bar").count() for n in range(charts.count())] == bars
    for name, source in SOLVED["14a"].items():
        type_code(view, name, source).get_by_text("Passed.").wait_for()
    look(view, screenshot, "14a", ("hook", "question", "cache", "observe-how", "cold", "rule", "exercise", "account"))


def open_lesson_14b(view: View, screenshot: Screenshot) -> None:
    """Commit both predictions, play a bad board and one at par, let the engine play it, and solve every exercise."""
    keys = view.page.keyboard
    type_prediction(view, "question", "8", "16")
    cell(view, "observe-it").locator("svg.lab-chart").wait_for()
    assert cell(view, "observe-it").locator("svg.lab-chart .lab-steps").count() == 2
    compared = cell(view, "observe-it").locator("table").first.inner_text()
    assert "1 too much; this is what one gets if the input" in compared
    choose(view, "board-question", 0)
    board = cell(view, "board-answer").locator(".lab-checkpoints")
    board.wait_for()
    told = cell(view, "board-answer").locator("table").first.inner_text()
    assert "not as predicted" in told
    said = board.locator(".sentence")
    board.locator("svg.plot").focus()
    mark(view, 3, 6)
    assert "0 slots left; 6 is marked" in said.inner_text()
    keys.press("ArrowRight")
    keys.press("Space")
    assert "Only 3 slots are free, and one is for 9" in said.inner_text()
    keys.press("Enter")
    board.get_by_text("7 ops ran again, 1 over par.").wait_for()
    assert "equally long" in said.inner_text()
    keys.press("r")
    mark(view, 4, 7)
    keys.press("Enter")
    board.get_by_text("6 ops ran again, which is par: no plan needs fewer.").wait_for()
    assert "best 6" in board.locator(".head").inner_text()
    assert board.locator(".runs .path").count() == 4
    assert "Held: 0 of 3, at most 3. Ops: 9 forward, 6 again." in board.locator(".counts").inner_text()
    type_code(view, "play-it", "lessons.run_board(board)").locator("img, svg").first.wait_for()
    type_code(view, "play-it", "print(lessons.run_board(board))").get_by_text("6 of them again").wait_for()

    game = cell(view, "exercise-play").locator(".lab-checkpoints")
    game.locator("svg.plot").focus()
    mark(view, 6, 11, 15, 18)
    keys.press("Enter")
    game.get_by_text("15 ops ran again, which is par").wait_for()
    played = {**SOLVED["14b"], "exercise-board": 'lessons.check("14b.1", game)'}
    for name, source in played.items():
        type_code(view, name, source).get_by_text("Passed.").wait_for()
    look(view, screenshot, "14b", ("hook", "question", "board", "play", "rule", "exercise", "exercise-three", "share"))


def mark(view: View, *values: int) -> None:
    """Mark values on the board that has the focus; the first of the run is 1."""
    for value in values:
        view.page.keyboard.press("Home")
        for _ in range(value - 1):
            view.page.keyboard.press("ArrowRight")
        view.page.keyboard.press("Space")


def look(view: View, screenshot: Screenshot, lesson: str, places: tuple[str, ...]) -> None:
    """Take a picture of some places of a lesson."""
    photograph(view, screenshot, lesson, places)
