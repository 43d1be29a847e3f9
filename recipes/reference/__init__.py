"""The reference pages and llms.txt, written from the code: `python -m recipes.reference`."""
