// Only for the header that is compiled first.
