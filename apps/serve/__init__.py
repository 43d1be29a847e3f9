"""`webagent serve`: tasks as an environment server that speaks OpenEnv's protocol."""
