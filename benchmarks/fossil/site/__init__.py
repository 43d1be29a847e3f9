"""The site `fossil@1`: a project with its tickets, wiki, forum and code, served by Fossil."""

from benchmarks.fossil.site.site import Fossil, site

__all__ = ["Fossil", "site"]
