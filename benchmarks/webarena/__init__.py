"""WebArena and its kin: task files, the sites they name, and the checks of their scorers."""
