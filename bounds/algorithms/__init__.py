"""The algorithm boxes that public code says it implements, each as its paper has it."""
