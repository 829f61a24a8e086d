"""The window: what is drawn and clicked; it decides nothing that outlives it."""
