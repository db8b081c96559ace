"""The exit kit: moves everything out of an account without any service, through a chain node alone."""
