// Compiles the precompiled header for the tests of libraries without sockets.
