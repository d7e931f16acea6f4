"""Tests that teach: each is named as a claim about Headlight."""
