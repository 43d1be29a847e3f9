"""MiniWoB++: its tasks and scripted solutions."""
