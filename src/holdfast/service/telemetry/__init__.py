"""Metrics and traces of the running service, for operators. Off unless configured."""
