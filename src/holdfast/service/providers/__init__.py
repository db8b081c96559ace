"""What fills the ports: the store, senders of codes, object storage, workflow. Chosen in bootstrap only."""
