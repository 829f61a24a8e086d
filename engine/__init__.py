"""The speech engine: three small loops around one big model. Never imports Qt or `app`."""
