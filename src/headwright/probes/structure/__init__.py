"""Who sees whom: `pattern`, `permutation`, `shift`, `heads`, `distribution`."""
