"""One module per wire format; each registers its endpoints and is found by name at the registry's first look-up."""
