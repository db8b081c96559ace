"""Starts and stops the service, and runs its recurring jobs."""
