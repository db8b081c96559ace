"""What providers of e-mail and SMS share: addresses, HTTP requests, errors, the development outbox."""
