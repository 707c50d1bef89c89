module probe

go 1.21

require golang.org/x/net v0.62.0
