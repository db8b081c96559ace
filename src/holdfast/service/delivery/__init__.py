"""Shared by providers of e-mail and SMS: URLs, HTTP requests, errors, the development outbox."""
