// Compiles the precompiled header of the rooms without sockets.
