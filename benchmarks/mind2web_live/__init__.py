"""Mind2Web-Live: its tasks and its key nodes."""
