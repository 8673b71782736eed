# The npm package on Node, and nothing else: no shell, no package manager, no npm. Node and the libraries it loads are copied from
# Node's own image, which is pinned by content (its index, for every architecture) and holds the Node that package.json pins. To renew:
#   docker buildx imagetools inspect node:<version>-bookworm-slim --format '{{.Manifest.Digest}}'
# scripts/follow-dockerfile.ts takes these steps where there is no container engine, so it holds to COPY, RUN and what stands here.

# Nothing of the package is made for one architecture, so it is built on the builder's own. No program runs on another.
FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
WORKDIR /build

COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts

COPY LICENSE README.md CHANGELOG.md THIRD-PARTY.md tsconfig.json ./
COPY bin bin
COPY scripts scripts
COPY src src
COPY tag/template.tpl tag/
COPY deploy/tagwarden.service deploy/
COPY web web
RUN node scripts/ensure-dashboard.mjs && node scripts/package.ts package
RUN mkdir -p writable/data writable/cache writable/tmp && chmod 700 writable/data && chmod 1777 writable/tmp


FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS node


FROM scratch

COPY --from=node /usr/local/bin/node /usr/local/bin/
COPY --from=node /usr/lib/*-linux-gnu/libc.so.6 /usr/lib/*-linux-gnu/libm.so.6 /usr/lib/*-linux-gnu/libdl.so.2 /usr/lib/*-linux-gnu/libpthread.so.0 /usr/lib/*-linux-gnu/libgcc_s.so.1 /usr/lib/*-linux-gnu/libstdc++.so.6 /usr/lib/
# Programs name the loader by its path: that of amd64 is in /lib64, that of arm64 in /lib.
COPY --from=node /usr/lib/*-linux-gnu/ld-linux-*.so.* /lib/
COPY --from=node /usr/lib/*-linux-gnu/ld-linux-*.so.* /lib64/
COPY --from=node /usr/share/doc/libc6/copyright /usr/share/doc/libc6/
COPY --from=node /usr/share/doc/libstdc++6/copyright /usr/share/doc/libstdc++6/
COPY deploy/image/etc /etc
COPY --from=build /build/package /app
# What user 1000 may write where the file system is not read-only.
COPY --from=build --chown=1000:1000 /build/writable/cache /app/node_modules/.cache/tagwarden
COPY --from=build --chown=1000:1000 /build/writable/tmp /tmp
COPY --from=build --chown=1000:1000 /build/writable/data /data

ENV PATH=/usr/local/bin NODE_ENV=production HOST=0.0.0.0 PORT=8080 DATA_DIR=/data MALLOC_ARENA_MAX=2
WORKDIR /app
# By number, so that a platform that asks for a user other than root can see that it is one: this is `node`.
USER 1000:1000
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM

HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

CMD ["node", "--max-old-space-size=1536", "--max-semi-space-size=32", "--heap-growing-percent=200", "bin/tagwarden.mjs", "serve"]
