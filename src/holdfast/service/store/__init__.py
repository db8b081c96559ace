"""What the service stores: the Store port, and a package for each kind of database."""
