"""`webagent judge`: what evaluators say of stored episodes, and whether people would agree."""
