"""What the e-mail and SMS providers share: URLs, HTTP requests, errors, the development outbox."""
