"""The site: `make docs`. Pages are Markdown (MyST), tutorials scripts (sphinx-gallery), the reference is made of docstrings."""

import os
import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).parent.parent

project = "Bouligand"
author = "The Bouligand developers"
copyright = "the Bouligand developers, BSD-3-Clause"  # noqa: A001  (Sphinx's name)
release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "interactive",
    "figures",
    "tutorials/*.md",
    "tutorials/GALLERY_HEADER.rst",
    "sg_execution_times.rst",
]
default_role = "autolink"  # `System` in a docstring: a link if there is such a name, else italics

# ------------------------------------------------------------------------------------------------------ Markdown
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

# ------------------------------------------------------------------------------------------------------ the reference
autosummary_generate = True
autosummary_imported_members = False
autodoc_typehints = "none"  # (types are in the docstrings, in words)
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False
nitpick_ignore_regex = [
    (r"py:.*", r".*")
]  # (types of arguments are words, not references; links between pages are checked)


# ------------------------------------------------------------------------------------------------------ tutorials
def style(gallery_conf, fname):
    """The look of figures, before each tutorial."""
    import matplotlib.pyplot as plt

    import bouligand as bd

    plt.rcdefaults()
    plt.style.use(bd.plot.STYLE)


sphinx_gallery_conf = {
    "reset_modules": (style,),
    "examples_dirs": ["tutorials"],  # folders of scripts ...
    "gallery_dirs": ["gallery"],  # ... and where their pages go (made by the build)
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 5,  # a tutorial should take less
    "plot_gallery": os.environ.get("BOULIGAND_DOCS")
    != "light",  # (light: without running the tutorials, for the tests)
    "capture_repr": ("__repr__",),
    "matplotlib_animations": False,
    "first_notebook_cell": None,
    "show_signature": False,
    "write_computation_times": False,  # (a page that would load scripts from elsewhere)
    "doc_module": ("bouligand",),
}

# ------------------------------------------------------------------------------------------------------ how it looks
html_theme = "pydata_sphinx_theme"
html_title = "Bouligand"
html_static_path = ["interactive"]  # (files of the interactive page, copied to _static)
html_css_files = ["interactive.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # (it would fetch the pages that were found, which browsers do not do for files)
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "light"}
html_math_renderer = "mathml"  # (browsers draw it themselves: nothing is loaded from elsewhere)
suppress_warnings = ["config.cache", "misc.copy_overwrite"]


def without_outside_links(app, docname, source):
    """Links that lead out of the folder (to README.md and the like) lead to the pages that stand for them here."""
    stands_for = {
        "../CHANGELOG.md": "changelog.md",
        "../CONTRIBUTING.md": "contributing.md",
        "../README.md": "index.md",
        "../CITATION.cff": "cite.md",
        "docs/": "",
        "CHANGELOG.md": "changelog.md",
        "CONTRIBUTING.md": "contributing.md",
        "CITATION.cff": "cite.md",
    }
    for old, new in stands_for.items():
        source[0] = re.sub(rf"\]\({re.escape(old)}", f"]({new}", source[0])


def math(display):
    """A visitor that writes formulas as MathML."""

    def visit(self, node):
        import latex2mathml.converter
        from docutils import nodes

        formula = latex2mathml.converter.convert(node.astext(), display="block" if display else "inline")
        self.body.append(f'<div class="formula">{formula}</div>' if display else formula)
        raise nodes.SkipNode

    return visit, None


def setup(app):
    app.add_html_math_renderer("mathml", inline_renderers=math(False), block_renderers=math(True))
    app.connect("source-read", without_outside_links)
    app.connect("include-read", lambda app, path, docname, source: without_outside_links(app, docname, source))
