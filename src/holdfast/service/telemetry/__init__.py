"""Metrics and traces of the running service, for operators. They are off unless configured."""
