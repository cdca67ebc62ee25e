"""Configuration of the documentation site, which `scripts/docs` builds with Sphinx."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))
os.environ["MPLBACKEND"] = "Agg"

import case_classes  # noqa: E402
import public_names  # noqa: E402
import repository_pages  # noqa: E402
import reproduction_page  # noqa: E402
import stale_pages  # noqa: E402

from groundswell.version import __version__  # noqa: E402

# Pages made of the package and of files elsewhere in the repository, before Sphinx looks for pages.
public_names.write_pages(HERE / "generated" / "api")
repository_pages.write_pages(HERE / "generated" / "repository")
reproduction_page.write_page(HERE / "generated" / "reproduction")
stale_pages.remove_examples(HERE / "generated", HERE.parent / "examples")
stale_pages.remove_others(HERE / "generated" / "api" / "names", public_names.full_names())

project = "Groundswell"
author = "The Groundswell developers"
copyright = author
release = version = __version__

extensions = [
    "myst_parser",
    "notfound.extension",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
    "case_classes",
    "case_reference",
    "command_reference",
    "repository_pages",
    "stored_pictures",
]
exclude_patterns = [
    "**/sg_execution_times.rst",
    "sg_execution_times.rst",
    "_extensions",
    "_static",
    "_templates",
    "generated/*/index.md",
]
templates_path = ["_templates"]
nitpicky = False
suppress_warnings = ["config.cache"]  # the scrapers of sphinx-gallery cannot be pickled

# --- text -----------------------------------------------------------------------------------------

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath", "html_image"]
myst_heading_anchors = 4  # the names that GitHub gives to headings
default_role = "literal"  # docstrings mark code with single backticks
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"
copybutton_exclude = ".linenos, .gp, .go"

# --- Python ---------------------------------------------------------------------------------------

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}
autosummary_generate = True
autosummary_imported_members = True
autosummary_context = {
    "repeated": public_names.repeated(),
    "hidden": case_classes.hidden_members(),
}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Keys", "params_style")]
python_display_short_literal_types = True
python_maximum_signature_line_length = 88

# --- examples -------------------------------------------------------------------------------------

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorials", "../examples/gallery"],
    "gallery_dirs": ["generated/tutorials", "generated/gallery"],
    "filename_pattern": r"[/\\](?!gpu_)[^/\\]*\.py$",  # those for a GPU have stored pictures
    "subsection_order": [
        "../examples/gallery/earthquake",
        "../examples/gallery/dgwave",
        "../examples/gallery/ultrasound",
        "../examples/gallery/cavity",
        "../examples/gallery/poisson",
        "../examples/gallery/more",
        "../examples/gallery/gpu",
    ],
    "within_subsection_order": "FileNameSortKey",
    "nested_sections": False,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 5,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "copyfile_regex": r".*\.(toml|csv)",
    "matplotlib_animations": True,
}

# --- pages ----------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "Groundswell"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
# The page 404.html appears at any address, so its links start at the root of the site.
notfound_urls_prefix = os.environ.get("GROUNDSWELL_SITE", "/")
html_theme_options = {
    "logo": {"text": "Groundswell"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
    "show_toc_level": 2,
}
# Pages at the top have no pages beside them to list.
html_sidebars = {
    page: []
    for page in (
        "404",
        "clusters",
        "getting-started",
        "index",
        "references",
        "generated/repository/CHANGELOG",
    )
}
