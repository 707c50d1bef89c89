# syntax=docker/dockerfile:1
# Builds reprise on Debian 12 and leaves it in an image without a shell, run as a user that is not root.
FROM debian:12 AS build
WORKDIR /src
COPY deploy/packages.sh deploy/packages.sh
RUN bash -c 'source deploy/packages.sh && install_missing "${build_packages[@]}"' && rm -rf /var/lib/apt/lists/*
COPY CMakeLists.txt CMakePresets.json ./
COPY cmake cmake
COPY config config
COPY proxy proxy
RUN cmake --preset release -DREPRISE_TESTS=OFF \
 && cmake --build build/release --target reprise
# Beside the program: the shared libraries that the final image does not have, and the defaults as a file.
RUN libraries=/image/usr/lib/$(g++ -print-multiarch) \
 && mkdir -p /image/usr/local/bin /image/etc/reprise "$libraries" \
 && cp build/release/reprise /image/usr/local/bin/ \
 && ldd build/release/reprise | awk '$3 ~ /lib(yaml-cpp|prometheus-cpp|fmt|cares)/ {print $3}' | xargs -r cp -L -t "$libraries" \
 && echo 'version: 1' > /image/etc/reprise/reprise.yaml \
 && build/release/reprise check -c /image/etc/reprise/reprise.yaml

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /image /
USER 65532:65532
EXPOSE 3128 3129
ENTRYPOINT ["/usr/local/bin/reprise"]
CMD ["run", "-c", "/etc/reprise/reprise.yaml"]
