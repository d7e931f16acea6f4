"""The pictures and the pages."""
