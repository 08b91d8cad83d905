"""The moves on one statement: verify, hunt, audit, repair, and the kernel's word on a proof."""
