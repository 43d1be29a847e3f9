"""What is kept of an episode's pages beyond its observations, for checks that come later."""
