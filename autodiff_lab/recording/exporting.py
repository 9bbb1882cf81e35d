"""How a recording leaves Python: as SVG, PNG, PDF, DOT, a page, and what a notebook displays.

Each method imports the layer that draws, to the right of this one, when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from autodiff_lab.recording.files import write_whole

if TYPE_CHECKING:
    from graphviz import Source

    from autodiff_lab.exploring.costs import Costs
    from autodiff_lab.recording.model import TensorRecord
    from autodiff_lab.recording.recording import Recording
    from autodiff_lab.widgets.explorer import Explorer


class Exporting:
    """The base class of `Recording`: its methods that draw."""

    @property
    def _whole(self) -> Recording:
        return cast("Recording", self)

    def to_svg(
        self,
        moment: int | None = None,
        *,
        theme: str = "auto",
        within: str = "",
        folded: Iterable[str] | None = None,
        show: Iterable[str] | None = None,
        layout_seconds: float = 5.0,
    ) -> str:
        """Return a static picture of the graph, as the text of an SVG file.

        Parameters
        ----------
        moment : int, optional
            Index into `order`: the picture as of that moment.  By default everything that happened is shown.
        theme : str
            ``"light"``, ``"dark"``, or ``"auto"``: what the viewer prefers.
        within : str
            The scope whose inside is drawn.
        folded : iterable of str, optional
            Scopes drawn as one node; all direct sub-scopes of `within` if it is not given.
        show : iterable of str, optional
            Any of ``"values"``, ``"gradients"``, ``"shapes"`` and ``"names"``.
        layout_seconds : float
            CPU seconds that Graphviz may take; what takes longer is placed in layers.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> with lab.record() as recording:
        ...     y = lab.exp(lab.constant(0.0))
        >>> recording.to_svg().startswith("<svg")
        True
        """
        from autodiff_lab.draw.graph import graph
        from autodiff_lab.draw.layout import arrange
        from autodiff_lab.draw.svg import svg

        drawn = graph(self._whole, within, folded)
        options: dict[str, Any] = {} if show is None else {"show": show}
        return svg(drawn, arrange(drawn, layout_seconds), self._whole, moment, theme, **options)

    def to_png(self, path: str | Path, *, theme: str = "light", scale: float = 2.0, **options: Any) -> None:
        """Write the static picture as a PNG, for documents that take no SVG.

        Parameters
        ----------
        path : str or Path
            Where to write it; an existing file is replaced once the new one is complete.
        theme : str
            ``"light"`` or ``"dark"``.
        scale : float
            Pixels of the file for each pixel of the picture.
        **options
            As for `to_svg`.

        Raises
        ------
        MissingPackage
            Without resvg_py, which comes with ``autodiff-lab[lab]``.
        InvalidArgumentError
            For a theme or scale that is not possible, or more than 100 million pixels.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> import autodiff_lab as lab
        >>> with lab.record() as recording:
        ...     y = lab.exp(lab.constant(0.0))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     recording.to_png(folder + "/picture.png")
        ...     Path(folder, "picture.png").read_bytes()[1:4]
        b'PNG'
        """
        from autodiff_lab.draw.export import png

        write_whole(Path(path), png(self.to_svg(**options), theme, scale))

    def to_pdf(self, path: str | Path, *, theme: str = "light", **options: Any) -> None:
        """Write the static picture as a PDF of one page, with lines and letters that stay sharp at any size.

        Parameters
        ----------
        path : str or Path
            Where to write it; an existing file is replaced once the new one is complete.
        theme : str
            ``"light"`` or ``"dark"``.
        **options
            As for `to_svg`.

        Raises
        ------
        MissingPackage
            Without typst, which comes with ``autodiff-lab[pdf]``.
        InvalidArgumentError
            For another theme.
        OSError
            If the file cannot be written.
        """
        from autodiff_lab.draw.export import pdf

        write_whole(Path(path), pdf(self.to_svg(**options), theme))

    def to_dot(self, *, within: str = "", folded: Iterable[str] | None = None) -> Source:
        """Return the graph as a `graphviz.Source`, to render, edit or save; `within` and `folded` are as for `to_svg`.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> with lab.record() as recording:
        ...     y = lab.exp(lab.constant(0.0))
        >>> "exp" in recording.to_dot().source
        True
        """
        from autodiff_lab.draw.dot import dot
        from autodiff_lab.draw.graph import graph

        return dot(graph(self._whole, within, folded), self._whole)

    def explore(
        self,
        step: int | None = None,
        *,
        color: Mapping[Any, float] | Callable[[TensorRecord], float | None] | Costs | None = None,
        layout_seconds: float = 5.0,
        max_bytes: int | None = 2_000_000,
    ) -> Explorer:
        """Return the explorer of the recording, a widget; `color` gives each value a number to colour its node by.

        Parameters
        ----------
        step : int, optional
            How many steps have been made; by default the forward pass.
        color : mapping, callable or Costs, optional
            A number for each value: a dict from tensors, variables or names to finite numbers, a function that takes
            a `TensorRecord` and returns a number, or None for no colour, whose name is shown; or the forward and
            backward times of ``lab.costs(recording)``.
        layout_seconds : float
            CPU seconds that Graphviz may take; what takes longer is placed in layers.
        max_bytes : int, optional
            What it may take in the file of a notebook. A longer recording keeps its whole graph and fewer numbers, and
            says so; None for no limit.

        Returns
        -------
        Explorer
            A widget.

        Raises
        ------
        InvalidArgumentError
            `color` is neither a dict nor a function, gives something other than finite numbers and None, or has the
            costs of another recording, or `max_bytes` is not a positive number.
        NotInRecording
            A `LookupError`: a key of `color` is not in the recording.

        Examples
        --------
        >>> import autodiff_lab as lab
        >>> with lab.record() as recording:
        ...     y = lab.sin(lab.Variable(0.5, name="x"))
        >>> def elements(record):
        ...     return record.snapshot.size
        >>> recording.explore(color=elements).step, recording.explore(color={"x": 2.5}).step
        (1, 1)
        """
        from autodiff_lab.widgets.explorer import Explorer

        return Explorer(self._whole, step, color=color, layout_seconds=layout_seconds, max_bytes=max_bytes)

    def to_html(
        self,
        path: str | Path,
        *,
        title: str = "",
        color: Mapping[Any, float] | Callable[[TensorRecord], float | None] | Costs | None = None,
        max_bytes: int | None = 2_000_000,
    ) -> None:
        """Write one HTML file in which the recording can be stepped through, with no network and no kernel.

        Parameters
        ----------
        path : str or Path
            Where to write it; an existing file is replaced once the new one is complete.
        title : str
            Its heading, if the recording has no title.
        color : mapping, callable or Costs, optional
            As for `explore`.
        max_bytes : int, optional
            What the file may have. A longer recording keeps its whole graph and fewer numbers, and says so; None for no
            limit.

        Raises
        ------
        InvalidArgumentError
            As for `explore`.
        OSError
            If the file cannot be written.
        """
        from autodiff_lab.draw.page import page

        write_whole(Path(path), page(self._whole, title or self._whole.title, color, max_bytes))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """Return what a notebook shows: the explorer if widgets are installed, else a picture, and always a text."""
        if self.__dict__.get("_running"):
            return {"text/plain": repr(self)}
        try:
            from autodiff_lab.widgets.explorer import Explorer
        except ImportError:
            from autodiff_lab.draw.still import still

            return {"text/plain": repr(self), "image/svg+xml": still(self._whole)}
        return Explorer(self._whole)._repr_mimebundle_(include=include, exclude=exclude)

    def _ipython_display_(self) -> None:
        """Show the explorer and its picture as two outputs, where widgets are installed."""
        try:
            from autodiff_lab.widgets.outputs import publish
        except ImportError:
            raise NotImplementedError from None
        publish(self)
