"""Configuration of the documentation site: Sphinx with MyST-NB and the Furo theme; `make docs` builds it.

The parts that are specific to this project (links, navigation, pictures that can be stepped through, executed lessons,
reference pages) are in tests/site; docs/decisions/site.md says why these tools were chosen.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import autodiff_lab as lab

PUBLIC_ADDRESS = ""
"""Where the site is published, such as https://example.org/autodiff_lab/; nowhere while it is empty."""

project = "autodiff_lab"
version = release = lab.__version__
copyright = "The autodiff_lab developers"
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "tests.site"]
exclude_patterns = ["build", "pages"]
suppress_warnings = ["ref.python"]  # names in the types of parameters, such as "shape", are words
nitpicky = False
default_role = "literal"

# Markdown. Examples are run by tests/test_documents.py, and the lessons by tests/site/lessons.py.
nb_execution_mode = "off"
nb_ipywidgets_js = {}  # these scripts would come from another host; lessons show pages of their own
nb_mime_priority_overrides = [("html", "text/html", 0), ("html", "image/svg+xml", 1)]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Reference pages.
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_preprocess_types = False
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
autodoc_preserve_defaults = True
add_module_names = False
toc_object_entries_show_parents = "hide"

# Pages. Fonts, scripts and search are files of the site, and formulas are MathML: nothing comes from another host.
html_theme = "furo"
html_title = "autodiff_lab"
html_baseurl = PUBLIC_ADDRESS
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "static/icon.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#005a8e", "color-brand-content": "#005a8e"},
    "dark_css_variables": {"color-brand-primary": "#56b4e9", "color-brand-content": "#56b4e9"},
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
