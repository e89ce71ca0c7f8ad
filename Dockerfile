# One image for each app: docker build --build-arg APP=gateway --tag tollkeeper/gateway:local .
ARG NODE_VERSION=24.21.0

# The bundle is the same on every platform, so it is built on the one that is there.
FROM --platform=$BUILDPLATFORM node:${NODE_VERSION}-bookworm-slim AS build
ENV CI=true NX_DAEMON=false
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --no-audit --no-fund
# From here on images differ.
ARG APP
RUN npx nx build "@tollkeeper/${APP:?Say which app: --build-arg APP=<folder below apps>}" --output-style=static

FROM node:${NODE_VERSION}-bookworm-slim
ARG APP
ARG VERSION
ARG REVISION
LABEL org.opencontainers.image.title="tollkeeper/${APP}" \
      org.opencontainers.image.description="Tollkeeper, the management plane for AI-agent gateways: ${APP}" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production
WORKDIR /app
COPY LICENSE ./
COPY --from=build /src/apps/${APP}/dist ./
# No user of the machine, and as a number: a cluster that refuses root can tell only then. Nothing is written, so the
# root file system may be read-only; no shell is needed; SIGTERM reaches node itself. What the flags are for:
# tools/fleet/src/node.flags.ts.
USER 10001:10001
ENTRYPOINT ["node", "--disable-warning=TimeoutNegativeWarning", "--no-allocation-site-pretenuring", "--heap-growing-percent=300", "main.js"]
