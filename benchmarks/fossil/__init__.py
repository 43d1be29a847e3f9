"""The project site fossil@1: its tasks and scripted solutions."""
