"""The built-in model: small enough to train on a laptop, real enough to be measured."""
