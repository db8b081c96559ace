"""The service's stored data: the Store port, and a package for each kind of database."""
