"""What the pytest plugin is made of: the fixture, the captures of a session, and what is kept of a failed test."""

from segscope.testing.fixture import Segscope

__all__ = ["Segscope"]
