"""Configuration of the documentation site; to build it: make docs.

The pages are Markdown files that GitHub also renders. `index.md` is the only list of pages: its sections
become the navigation.
"""

import re
from pathlib import Path

from tactile_sim import __version__

project = "tactile_sim"
author = copyright = "tactile_sim developers"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
exclude_patterns = ["requirements.*"]
html_theme = "furo"
html_title = f"tactile_sim {release}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_search_summary = False  # browsers do not allow local files to read the pages found
html_theme_options = {"navigation_with_keys": True}
default_role = "code"  # `name` in docstrings
myst_heading_anchors = 4
autoclass_content = "both"  # the class and its __init__
autodoc_member_order = "bysource"
autodoc_typehints = "description"
napoleon_use_rtype = False


def _sections(text: str) -> str:
    """Return the index with a hidden table of contents after each list of pages."""
    blocks = re.split(r"\n(?=[A-Z][^\n]*:\n\n- )", text)
    for k, block in enumerate(blocks):
        caption = re.match(r"([A-Z][^\n]*):\n", block)
        pages = re.findall(r"\]\((\w+)\.(?:md|rst)\)", block)
        options = f":caption: {caption[1]}\n" if caption else ""
        blocks[k] += f"\n\n```{{toctree}}\n:hidden:\n{options}\n" + "\n".join(pages) + "\n```\n"
    return "\n".join(blocks)


def _read(app: object, name: str, source: list[str]) -> None:
    """Adapt a page to the site: replace links to folders and pages outside docs/ with their names."""
    here = Path(__file__).parent

    def named(link: re.Match[str]) -> str:
        outside = here / link[2].partition("#")[0]
        if not (outside.is_dir() or outside.suffix in (".md", ".rst")):
            return link[0]
        return link[1] if link[2][3:] in link[1] else f"{link[1]} (`{link[2][3:]}`)"

    source[0] = re.sub(r"\[([^\]]*)\]\((\.\./[^)\s]*)\)", named, source[0])
    if name == "index":
        source[0] = _sections(source[0])


def setup(app: object) -> None:
    """Adapt each page when Sphinx reads it."""
    app.connect("source-read", _read)  # type: ignore[attr-defined]
