# Copyright The Penstock Authors.
# SPDX-License-Identifier: Apache-2.0
#
# One target for each program:
#   docker build --target manager --build-arg VERSION=v0.1.0 -t EXAMPLE/manager:v0.1.0 .
# For several platforms: docker buildx build --platform linux/amd64,linux/arm64 …

ARG GO_IMAGE=docker.io/library/golang:1.26
ARG BASE_IMAGE=gcr.io/distroless/static-debian12:nonroot

# Compiled where the build runs, for the platform asked for: no emulation.
FROM --platform=$BUILDPLATFORM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY api api
COPY cmd cmd
COPY controllers controllers
COPY internal internal
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/ ./cmd/...

FROM ${BASE_IMAGE} AS base
USER 65532:65532

FROM base AS sidecar
COPY --from=build /out/sidecar /sidecar
ENTRYPOINT ["/sidecar"]

FROM base AS penstock
COPY --from=build /out/penstock /penstock
ENTRYPOINT ["/penstock"]

FROM base AS manager
COPY --from=build /out/manager /manager
ENTRYPOINT ["/manager"]
