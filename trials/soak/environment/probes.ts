import { newId } from '../../../src/lib/index.ts'
import { openSqliteStore } from '../../../src/store/index.ts'

/** Sites with one number break and heal together; neighbours have different ones, as they are of one client. */
export const GROUPS = 25
const ROWS_PER_INSERT = 500

export interface ProbePlan {
  /** Where the target and the webhook receiver listen. */
  url: string
  intervalSeconds: number
}

export const targetPath = (group: number): string => `/target/${group}`
export const WEBHOOK_PATH = '/webhook'

/** Gives every site in `dataDir` a tag server and a probe of it, and every client a webhook. */
export async function importProbes(dataDir: string, { url, intervalSeconds }: ProbePlan): Promise<void> {
  const store = await openSqliteStore(dataDir)
  try {
    const sites = await store.read.selectFrom('sites').select(['id', 'site_no']).orderBy('site_no').execute()
    const now = Date.now()
    const probes = sites.map(({ id }, index) => ({
      id: newId(),
      site_id: id,
      probe_type: 'http_health',
      name: 'Tag server health',
      config: '{}',
      interval_seconds: intervalSeconds,
      timeout_ms: 10_000,
      failure_threshold: 1,
      recovery_threshold: 1,
      is_active: 1,
      created_at: now,
      // Spread over the interval, as those of a service that has run for long are.
      next_run_at: now + Math.floor((index * intervalSeconds * 1_000) / sites.length),
      consecutive_failures: 0,
      memory: '{}',
    }))
    await store.write.transaction().execute(async (transaction) => {
      await transaction
        .updateTable('clients')
        .set({ chat_webhook: url + WEBHOOK_PATH })
        .execute()
      for (const [index, { id }] of sites.entries()) {
        const tag_server_url = url + targetPath(index % GROUPS)
        await transaction.updateTable('sites').set({ tag_server_url }).where('id', '=', id).execute()
      }
      for (let start = 0; start < probes.length; start += ROWS_PER_INSERT) {
        await transaction
          .insertInto('probes')
          .values(probes.slice(start, start + ROWS_PER_INSERT))
          .execute()
      }
    })
  } finally {
    await store.close()
  }
}
