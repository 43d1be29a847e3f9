"""The checks of WebArena, VisualWebArena and WebChoreArena."""
