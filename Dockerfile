# A minimal image of reprise: no shell, no package manager, and a user other than root.
#
#   docker build -t reprise .                                  the image
#   docker build --target tests .                              the unit tests, in the build environment of the image
#   docker build --target tests --build-arg ROOMS="policy io" .   the unit tests of some rooms (folders of tests/)
#   docker build --target sbom --output build/image .          the bill of materials: reprise.spdx.json
#   docker build --target redirect -t reprise-redirect .       the image with nftables, for deploy/kubernetes/transparent.yaml
#   docker build --build-context package=FOLDER -t reprise .   the image from the Debian package in FOLDER, without compiling
ARG BASE=debian:12-slim

FROM ${BASE} AS source
WORKDIR /src
COPY deploy/packages.sh deploy/packages.sh
RUN bash -c 'source deploy/packages.sh && install_missing "${build_packages[@]}" dpkg-dev file' && rm -rf /var/lib/apt/lists/*
COPY CMakeLists.txt CMakePresets.json CHANGELOG.md LICENSE README.md SECURITY.md ./
COPY cmake cmake
COPY config config
COPY deploy/debian deploy/debian
COPY deploy/grafana deploy/grafana
COPY deploy/prometheus deploy/prometheus
COPY deploy/systemd deploy/systemd
COPY proxy proxy

FROM source AS build
RUN cmake --preset release -DREPRISE_TESTS=OFF \
 && cmake --build build/release --target reprise \
 && cd build/release && cpack -B /package

FROM source AS tests
ARG ROOMS=""
COPY tests tests
RUN bash -c 'source deploy/packages.sh && install_missing libgtest-dev openssl' && rm -rf /var/lib/apt/lists/* \
 && cmake --preset release -DREPRISE_TESTS=ON -DREPRISE_LTO=OFF \
 && cmake --build build/release ${ROOMS:+--target $(printf '%s_test ' $ROOMS)} \
 && ctest --test-dir build/release -R "^($(printf '%s' "${ROOMS:-.*}" | tr ' ' '|'))(_test)?[.]" \
      --output-on-failure --no-tests=error --timeout 900 -j "$(nproc)"

FROM scratch AS package
COPY --from=build /package/*.deb /

FROM ${BASE} AS root
COPY --from=package / /package/
COPY deploy/image /tools/
RUN apt-get -q update \
 && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends ca-certificates /package/*.deb \
 && sh /tools/fill.sh /image \
 && mkdir /sbom && sh /tools/sbom.sh /image >/sbom/reprise.spdx.json

FROM ${BASE} AS redirect
COPY --from=package / /package/
RUN apt-get -q update \
 && DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends nftables /package/*.deb \
 && rm -rf /package /var/lib/apt/lists/*
ENTRYPOINT ["/usr/bin/reprise"]

FROM scratch AS sbom
COPY --from=root /sbom/reprise.spdx.json /

FROM scratch
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="reprise" \
      org.opencontainers.image.description="Retries for applications that cannot retry: a local HTTP proxy" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="scratch"
COPY --from=root /image /
USER 65532:65532
EXPOSE 3128 3129
ENTRYPOINT ["/usr/bin/reprise"]
CMD ["run", "-c", "/etc/reprise/reprise.yaml"]
