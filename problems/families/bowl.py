"""Users in a bowl: the losses of shelf.py, with a parabola where the run is."""

from .shelf import CurvedLoss

LOSS = CurvedLoss("bowl")
