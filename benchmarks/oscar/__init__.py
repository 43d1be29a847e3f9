"""The shop oscar@1: its site, its tasks and scripted solutions."""
