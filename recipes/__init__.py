"""The parts put together: one file for each thing a person does."""
