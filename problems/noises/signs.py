"""The laws that statements speak of: no noise, independent signs, one sign for all clients, noise of Hessians."""

from .law import NoiseLaw

NONE = NoiseLaw("none", silent=True)
INDEPENDENT = NoiseLaw("independent")
SHARED = NoiseLaw("shared", one_sign=True)
ROUGH = NoiseLaw("rough", of_hessians=True, simpler="independent")
