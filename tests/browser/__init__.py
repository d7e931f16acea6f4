"""Tests that use Headlight as a person does, in a real Chromium."""
