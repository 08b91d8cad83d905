"""What textbooks say of the quantities of settings without a method: each line with the reason why it holds."""
