"""Real clients, installed from their registries and run against Candor on loopback."""
