"""Proposing: models asked, sites explored, proposals sifted and proven."""
