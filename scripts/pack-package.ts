/**
 * What `npm pack` leaves in a checkout: the package that is for everyone, in place of what npm packed. The folder itself would be the
 * sources, which run nowhere below `node_modules`. npm runs this when its own file is written; see `prepack` in `package.json`.
 */
import { copyFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const {
  npm_package_version: version,
  npm_config_pack_destination: destination = '.',
  npm_config_dry_run: isDryRun,
  INIT_CWD: startedIn = '.',
} = process.env
const name = `tagwarden-${version}.tgz`
if (isDryRun !== 'true') copyFileSync(join(import.meta.dirname, '../dist', name), resolve(startedIn, destination, name))
