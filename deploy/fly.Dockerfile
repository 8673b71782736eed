# Volumes of Fly.io belong to root, and the image runs as user 1000. Each machine there is a virtual one of its own.
FROM ghcr.io/owner/tagwarden:0.1.0
USER 0:0
