# Builds for the platform that is asked for, on the one that builds: nothing is emulated.
FROM --platform=$BUILDPLATFORM golang:1.26.8 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION=unknown
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /olmgate ./cmd/olmgate

# One static binary, and the authorities of the web for commands that read registries. No shell, no package manager.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /olmgate /olmgate
USER 65532:65532
ENTRYPOINT ["/olmgate"]
