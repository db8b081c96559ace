"""HTTP requests and responses, for all other packages of the service."""
