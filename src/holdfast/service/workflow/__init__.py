"""The background-workflow engine."""
