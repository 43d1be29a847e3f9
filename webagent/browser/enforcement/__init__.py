"""The guard at work: at every request, at every connection and at every action."""
