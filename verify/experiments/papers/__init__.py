"""What papers observed, a folder for each: an experiment, a display and its data as that paper has them."""
