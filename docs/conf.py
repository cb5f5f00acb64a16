"""How Sphinx builds the site: from files of this folder, with nothing fetched, now or when read."""

from __future__ import annotations

import sys
from pathlib import Path

import nbbias

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "nbbias"
author = "The nbbias developers"
copyright = author
release = version = nbbias.__version__

extensions = [
    "sphinx.ext.autodoc",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
    "mathml",
    "made",
    "passages",
    "typed",
]
# The README's command leaves a run in the tutorial.
exclude_patterns = ["_build", "_ext", "_made/include", "tutorial/runs"]
suppress_warnings = ["myst.header"]  # a page that is included begins where its host left off

# Notebooks are committed without output, and run when the site is built.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_block"]
myst_heading_anchors = 3

default_role = "literal"  # names in docstrings
autodoc_typehints = "none"  # `_ext/typed.py` writes them into the sections
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!nbbias).*")]  # whose pages are on the network

html_theme = "pydata_sphinx_theme"
html_title = "nbbias"
html_static_path = ["_static"]
html_css_files = ["nbbias.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # it would fetch pages, which a browser refuses to a file
html_search_scorer = str(Path(__file__).parent / "_ext/scorer.js")
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_align": "left",
    "logo": {"text": "nbbias"},
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 8,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        "compared": [],
        "papers": [],
        "index": [],
        "developers": [],
    },
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# The first page has its own list.
html_sidebars = {name: [] for name in ("index",)}
