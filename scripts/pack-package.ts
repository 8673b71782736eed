/**
 * Replaces the file that `npm pack` wrote with the package from `dist`. Packing the checkout would publish the sources, which do not run
 * below `node_modules`. npm runs this after writing its own file; see `prepack` in `package.json`.
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
