import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { madeOnce } from '../../../testkit/made-once.ts'
import { REPOSITORY } from '../../../testkit/repository.ts'

/** Where the built dashboard lies. */
export const DIST = join(REPOSITORY, 'web/dist')

/** Builds the dashboard where it is older than its sources, as `npm test` does before all tests. A run asks for it once. */
export async function ensureDashboard(): Promise<void> {
  await madeOnce('dashboard', buildDashboard)
}

/** The same, whether or not this run has asked for it. */
export async function buildDashboard(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(REPOSITORY, 'scripts/ensure-dashboard.mjs')])
}
