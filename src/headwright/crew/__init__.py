"""Many independent jobs, on this machine or on a cluster, with a store that survives anything."""
