"""How the site is built: ``make docs``."""

import os
import re
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from tamis import __version__

project, author, release, version = "tamis", "The tamis developers", __version__, __version__
copyright = author

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["reliability/*"]
templates_path = ["_templates"]
linkcheck_ignore = ["https?://"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

autosummary_generate = True
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "plot_gallery": "True",
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "doc_module": ("tamis",),
    "backreferences_dir": "generated/backreferences",
    "inspect_global_variables": True,
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "pydata_sphinx_theme"
html_title = "tamis"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_copy_source = html_show_sourcelink = False
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "logo": {"text": "tamis"},
}
html_sidebars = {"index": [], "start": [], "which": [], "changelog": []}

ROOT = Path(__file__).parents[1]
PAGES = {
    "CHANGELOG.md": "changelog",
    "CODE_OF_CONDUCT.md": "code-of-conduct",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
    "research/README.md": "research",
}


def read_files_of_the_root(app, docname, source):
    """Put files of the repository's root where a page names them, and let links to them lead to those pages."""

    def included(match):
        text = (ROOT / match[1]).read_text().partition("\n")[2].replace("](docs/", "](/").replace("](../docs/", "](/")
        return re.sub(r"\]\((src|research|tests)/", r"](/../\1/", text)

    text = re.sub(r"<!-- include (\S+) -->", included, source[0])
    for path, page in PAGES.items():
        text = re.sub(rf"\]\([./]*{re.escape(path)}", f"](/{page}.md", text)
    source[0] = text


def setup(app):
    app.connect("source-read", read_files_of_the_root)
