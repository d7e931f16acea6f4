"""The programs behind the Makefile."""
