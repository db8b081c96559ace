"""One-time codes by SMS: the SmsVerifier port and the providers that implement it."""
