"""Runs of the command line that are killed, run out of room, or lose their files, and what they leave behind."""
