"""What would happen: predicts what a page does when it is acted on."""
