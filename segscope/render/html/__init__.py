"""A fusion as one HTML file that needs nothing else."""

from segscope.render.html.page import to_html

__all__ = ["to_html"]
