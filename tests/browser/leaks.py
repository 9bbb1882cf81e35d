"""All that a page with a lesson holds before anything is committed, and what its questions turn out to close.

Read are the text of every output, shown or hidden, collapsed or not; comments, titles, labels, alternative texts and
other attributes; and what the notebook would save: every form of every output, and metadata.
"""

from __future__ import annotations

import re
from typing import Any

from tests.browser.cells import PREDICTION
from tests.browser.view import View
from tests.lessons.leaks import Piece, Secrets, long_lines

READ = """() => {
    const inline = new Set(['SPAN', 'B', 'I', 'A', 'CODE', 'EM', 'STRONG', 'SUP', 'SUB', 'S', 'tspan', 'mi', 'mo']);
    const read = (node, words, attributes) => {
        if (node.nodeType === Node.TEXT_NODE || node.nodeType === Node.COMMENT_NODE) { words.push(node.data); return; }
        if (['STYLE', 'SCRIPT', 'style'].includes(node.nodeName)) return;
        for (const { name, value } of node.attributes ?? [])
            if (/^(title|alt|placeholder|value|content|srcdoc|aria-.+|data-.+)$/.test(name)) attributes.push(value);
        if (typeof node.value === 'string') attributes.push(node.value);
        const apart = inline.has(node.nodeName) ? '' : '\\n';
        words.push(apart);
        const children = [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes];
        for (const child of children) read(child, words, attributes);
        words.push(apart);
    };
    const notebook = window.jupyterapp.shell.currentWidget.content;
    const cells = notebook.widgets.map(({ model, node }) => {
        const words = [], attributes = [], saved = [];
        for (const output of node.querySelectorAll('.jp-Cell-outputWrapper')) read(output, words, attributes);
        for (const { data, text } of model.toJSON().outputs ?? [])
            saved.push(...Object.values(data ?? {}).map(form => [form].flat().join('')), [text ?? ''].flat().join(''));
        return { id: model.id, type: model.type, source: model.sharedModel.source, words: words.join(''), attributes,
                 saved, metadata: JSON.stringify(model.metadata) };
    });
    return { cells, metadata: JSON.stringify(notebook.model.toJSON().metadata) };
}"""
OPENED = """ids => window.jupyterapp.shell.currentWidget.content.widgets
  .filter(cell => ids.includes(cell.model.id)).map(cell => ({
    id: cell.model.id,
    outcomes: [...cell.node.querySelectorAll('.jp-OutputArea table')]
        .filter(table => table.rows[0].innerText.includes('you predicted'))
        .flatMap(table => [...table.rows].slice(1).map(row => row.cells[2].textContent)),
    printed: [...cell.node.querySelectorAll('.jp-OutputArea .widget-html pre')].map(pre => pre.textContent).join('\\n'),
}))"""
HIDDEN = (
    "<details><summary>more</summary>planted 1</details>", "<p hidden>planted 2</p>", "<!-- planted 3 -->",
    '<i title="planted 4"></i>', '<b aria-label="planted 5"></b>', '<img alt="planted 6">',
    "<svg><title>planted 7</title></svg>", '<input type="hidden" value="planted 8">',
)  # fmt: skip
"""Places where somebody may hide an answer."""
PLANT = """texts => {
    const cells = [...document.querySelectorAll('.jp-CodeCell .jp-Cell-outputWrapper')];
    cells.at(-1).insertAdjacentHTML('beforeend', `<div id="planted">${texts.join('')}</div>`);
}"""
ASKS = re.compile(r"^(\w+) = lessons\.predict\(", re.MULTILINE)
OPENS = re.compile(r"\b(\w+)\.(?:unlock|then)\(")


def pieces(view: View) -> list[Piece]:
    """Return all that can be read in a lesson, cell by cell."""
    found: list[Piece] = []
    held: Any = view.page.evaluate(READ)
    for cell in held["cells"]:
        found.append(Piece(cell["id"], "code" if cell["type"] == "code" else "text", cell["source"]))
        drawn = [cell["words"], *cell["attributes"], *cell["saved"], cell["metadata"]]
        found += [Piece(cell["id"], "drawn", words) for words in drawn if words.strip()]
    return [*found, Piece("the notebook", "drawn", held["metadata"])]


def missed(view: View) -> list[str]:
    """Return what `pieces` does not find of something that is hidden in an output; nothing stays there."""
    view.page.evaluate(PLANT, list(HIDDEN))
    told = "\n".join(piece.words for piece in pieces(view))
    view.page.evaluate("() => document.getElementById('planted').remove()")
    return [text for number, text in enumerate(HIDDEN, start=1) if f"planted {number}" not in told]


def commit_the_rest(view: View) -> None:
    """Answer the questions that are still open, with anything."""
    for question in view.page.locator(PREDICTION).all():
        button = question.get_by_role("button", name="Commit", exact=True)
        if not button.count() or button.is_disabled():
            continue
        choices = question.locator("input[type=radio]")
        if choices.count():
            choices.first.check()
        for field in question.locator("input[type=text]").all():
            field.fill("−12345")
        button.click()
        question.get_by_role("button", name="Committed").wait_for()


def opened(view: View, before: list[Piece]) -> Secrets:
    """Return what stands where the questions of a lesson, all of them committed, had closed something."""
    code = {piece.cell: piece.words for piece in before if piece.kind == "code"}
    asked = {name: cell for cell, source in code.items() for name in ASKS.findall(source)}
    by = {cell: asked[name] for cell, source in code.items() for name in OPENS.findall(source) if name in asked}
    found = Secrets({}, set())
    for cell in view.page.evaluate(OPENED, list(by)):
        found.outcomes.setdefault(by[cell["id"]], []).extend(map(_value, cell["outcomes"]))
        found.lines |= long_lines(cell["printed"])
    return found


def _value(text: str) -> Any:
    try:
        return float(text.replace("−", "-"))
    except ValueError:
        return text
