# Node runs the TypeScript sources as they are; only the dashboard is built.
#
# The image is pinned by content (its index, for every architecture) and holds the Node that package.json pins. To renew it:
#   docker buildx imagetools inspect node:<version>-bookworm-slim --format '{{.Manifest.Digest}}'
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS dashboard

WORKDIR /app

COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts

COPY scripts/ensure-dashboard.mjs scripts/
COPY tsconfig.json ./
COPY web web
RUN node scripts/ensure-dashboard.mjs


FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6

ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data MALLOC_ARENA_MAX=2
WORKDIR /app

COPY package.json package-lock.json .npmrc ./
# Without optional packages: they are Node itself for machines that lack it.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force

COPY LICENSE ./
COPY bin bin
COPY contract contract
COPY src src
COPY tag/template.tpl tag/
COPY --from=dashboard /app/web/dist web/dist
RUN mkdir -p -m 700 /data node_modules/.cache/tagwarden && chown node:node /data node_modules/.cache/tagwarden
# By number, so that a platform that asks for a user other than root can see that it is one: this is `node`.
USER 1000:1000
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM

HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

CMD ["node", "--max-old-space-size=1536", "--max-semi-space-size=32", "--heap-growing-percent=200", "bin/tagwarden.mjs", "serve"]
