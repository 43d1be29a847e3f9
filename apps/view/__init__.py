"""`webagent view`: runs in a browser, as they are and while they go on."""

LOCAL = ("127.0.0.1", "localhost", "::1")
"""This machine's names for itself; a browser may use these alone, since any other may be a name of
somebody else's that points here."""
