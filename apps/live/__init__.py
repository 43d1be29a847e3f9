"""`webagent run`: one task done live, watched and steered by a person."""
