"""Files in and answers out, within limits of time and memory."""
