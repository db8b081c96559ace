"""What the e-mail and SMS providers share: URLs, HTTP requests, errors and the development outbox."""
