# reprise with nftables beside it, for the init container of transparent.yaml:
#   docker build -f deploy/kubernetes/redirect.Dockerfile -t reprise-redirect:0.1.0 .
FROM debian:12-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends nftables libyaml-cpp0.7 libprometheus-cpp-core1.0 libfmt9 libc-ares2 libssl3 libstdc++6 \
 && rm -rf /var/lib/apt/lists/*
COPY --from=reprise:0.1.0 /usr/bin/reprise /usr/bin/reprise
ENTRYPOINT ["/usr/bin/reprise"]
