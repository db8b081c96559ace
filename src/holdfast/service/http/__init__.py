"""Ground room: HTTP requests and responses as every room of the service may use them."""
