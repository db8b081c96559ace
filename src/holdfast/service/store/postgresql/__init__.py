"""The PostgreSQL store: one database for any number of processes and machines."""
