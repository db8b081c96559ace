"""What operators see of the running service: metrics and traces. It is off unless configured."""
