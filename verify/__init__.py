"""What is true: searches, verdicts, certificates, the kernel."""
