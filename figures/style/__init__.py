"""One look for all figures, and SVG that is small."""
