"""Wrong models by seed: mutations of those that ship, each compiled and evaluated under a bound of time and memory."""
