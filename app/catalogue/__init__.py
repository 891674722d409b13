"""The models that Candor serves and the routes that list them."""
