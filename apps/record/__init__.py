"""Recording what a person does in a browser, as a demonstration that agents can learn from."""
