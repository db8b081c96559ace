"""E-mail with one-time codes: the Mailer port and the providers that implement it."""
