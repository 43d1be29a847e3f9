"""What a command tells the person or program that started it."""
