"""The WSGI entry point: the app, with its settings from the environment."""

from gunicorn.errors import AppImportError  # type: ignore[import-untyped]

from app import create_app
from app.settings import SettingsError

try:
    app = create_app()
except SettingsError as error:
    # For this one gunicorn prints the text alone and stops, where any other would be a traceback and a new try.
    raise AppImportError(f"candor: {error}") from error
