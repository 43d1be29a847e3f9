"""Stand-ins that only tests use; those that measurements borrow are in `perf/fakes`."""
