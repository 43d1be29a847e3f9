"""One page: its line to the browser, the scripts in its frames, and how its time passes."""
