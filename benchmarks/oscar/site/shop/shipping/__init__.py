"""Oscar's shipping with this shop's two ways to ship."""
