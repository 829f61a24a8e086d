"""The command line: transcribe, models, doctor. Never imports Qt, nor torch."""
