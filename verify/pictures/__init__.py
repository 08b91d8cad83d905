"""The data that figures draw. Nothing is plotted here."""
