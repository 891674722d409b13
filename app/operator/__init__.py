"""Pages for whoever runs Candor: health, readiness, metrics."""
