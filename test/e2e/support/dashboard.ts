import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

const REPOSITORY = join(import.meta.dirname, '../../..')

/** Where the built dashboard lies. */
export const DIST = join(REPOSITORY, 'web/dist')

/** Builds the dashboard where it is older than its sources, as `npm test` does before all tests. */
export async function ensureDashboard(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(REPOSITORY, 'scripts/ensure-dashboard.mjs')])
}
