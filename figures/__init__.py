"""Pictures and pages of results: data in, drawings out. Nothing here simulates, and nothing needs a display."""
