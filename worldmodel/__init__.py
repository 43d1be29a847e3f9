"""World models: predict the effects of actions on pages."""
