"""The chain as the service and the client meet it: JSON-RPC, user operations, registrations. Imports only `wire`."""
