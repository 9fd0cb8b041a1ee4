"""Properties of any attention layer, found by running it (`hw.xray`)."""
