"""steptime: how long does one training step take, and where does the time go?"""

__version__ = "0.1.0"
