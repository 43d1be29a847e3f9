"""Proposals made and proven by playing: a site explored, labelled backwards, checks tried."""
