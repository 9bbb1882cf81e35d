"""Moving pictures for documents: screenshots of a page while it is stepped through, as one animated PNG.

An animated PNG is shown by every current browser inside `<img>`, and as its first frame where it is not.
"""

import io
from collections.abc import Sequence
from pathlib import Path

from PIL import Image
from playwright.sync_api import Locator, Page

COLORS = 96
"""A page of text and lines needs no more, and the file is a third of the size."""
LIMIT = 600_000


def frames(page: Page, root: Locator, steps: int) -> list[Image.Image]:
    """Photograph an element as it is, and again after each of a number of steps."""
    taken: list[Image.Image] = []
    for step in range(steps + 1):
        if step:
            page.keyboard.press("ArrowRight")
        taken.append(Image.open(io.BytesIO(root.screenshot(animations="disabled"))).convert("RGB"))
    return taken


def save(pictures: Sequence[Image.Image], seconds: Sequence[float], path: Path) -> int:
    """Write an animated PNG that repeats forever; return its size in bytes.

    All frames have the colors of the one that has most of them, so that what does not change costs nothing.
    """
    sheet = Image.new("RGB", (pictures[0].width, sum(picture.height for picture in pictures)))
    top = 0
    for picture in pictures:
        sheet.paste(picture, (0, top))
        top += picture.height
    palette = sheet.quantize(COLORS, dither=Image.Dither.NONE)
    few = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    few[0].save(
        path, save_all=True, append_images=few[1:], duration=[round(1000 * s) for s in seconds], loop=0, optimize=True
    )
    return path.stat().st_size
