#!/usr/bin/env bash
# Tries an image as it should be run: no right of root, a file system that it cannot write to, one volume. Says what fails.
#   bash deploy/image/smoke-test.sh <image>
set -euo pipefail
image=$1
name=tagwarden-smoke-$$
most_bytes=180000000

cleanup() {
  docker rm --force "$name" >/dev/null 2>&1 || true
  docker volume rm "$name" >/dev/null 2>&1 || true
}
trap cleanup EXIT

start() {
  docker run --detach --name "$name" --env ADMIN_TOKEN=only-for-this-run --volume "$name:/data" --read-only --tmpfs /tmp \
    --cap-drop ALL --security-opt no-new-privileges:true "$image" >/dev/null
  timeout 90 bash -c "until [ \"\$(docker inspect --format '{{.State.Health.Status}}' $name)\" = healthy ]; do sleep 1; done" ||
    { docker logs "$name"; echo "$image does not become healthy"; exit 1; }
}

stop() {
  docker stop -t 30 "$name" >/dev/null
  code=$(docker inspect --format '{{.State.ExitCode}}' "$name")
  [ "$code" = 0 ] || { docker logs "$name"; echo "$image ends with $code"; exit 1; }
}

bytes=$(docker image inspect --format '{{.Size}}' "$image")
[ "$bytes" -le "$most_bytes" ] || { echo "$image has $bytes bytes, more than $most_bytes"; exit 1; }
user=$(docker image inspect --format '{{.Config.User}}' "$image")
[ "$user" = 1000:1000 ] || { echo "$image runs as $user"; exit 1; }
! docker run --rm --entrypoint sh "$image" -c true 2>/dev/null || { echo "$image has a shell"; exit 1; }

start
docker exec "$name" node bin/tagwarden.mjs backup /data/backup.db
stop
docker rm "$name" >/dev/null
# What the first one wrote is there for the next.
start
docker exec "$name" node bin/tagwarden.mjs migrate --status
stop
echo "$image is well: $bytes bytes"
