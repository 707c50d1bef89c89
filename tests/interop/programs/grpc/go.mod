module probe

go 1.21

require google.golang.org/grpc v1.85.0
