"""What `import fedaudit` offers."""
