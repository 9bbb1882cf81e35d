"""Pictures: a recording becomes a graph, a layout, an SVG, a page."""
