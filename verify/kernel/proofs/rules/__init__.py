"""The rules by which a judgement follows from others, one module each."""
