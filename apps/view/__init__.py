"""`webagent view`: runs in a browser, as they are and while they go on."""
