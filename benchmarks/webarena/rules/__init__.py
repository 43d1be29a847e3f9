"""The checks of WebArena, VisualWebArena, WebChoreArena and WebArena-Verified."""
