"""`webagent completion`: what shells need to complete recipes, flags, names and run folders."""
