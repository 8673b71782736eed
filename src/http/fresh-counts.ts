import { isObject } from '../lib/index.ts'
import type { HttpApp } from './schemas.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the answer counts: the site in the path, or all sites. Their counts are brought up to date before the handler runs. */
    counts?: 'site' | 'all'
  }
}

/** The longest that a report waits for newer counts, ms; then it shows what there is. */
const PATIENCE_MS = 2_000

/** Brings counts up to date. @param siteId null for all sites */
export type FreshenCounts = (siteId: string | null) => Promise<void>

/**
 * Makes routes that show counts wait until what was received is counted.
 *
 * @param freshen reports its own failures: a report is useful even while nothing can be written
 */
export function freshenCounts(app: HttpApp, freshen: FreshenCounts): void {
  app.addHook('preHandler', async ({ routeOptions, params }) => {
    const { counts } = routeOptions.config
    if (counts === undefined) return
    const siteId = isObject(params) && typeof params.site_id === 'string' ? params.site_id : null
    await inTime(freshen(counts === 'site' ? siteId : null))
  })
}

async function inTime(work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, PATIENCE_MS)
  })
  await Promise.race([work, over])
  clearTimeout(timer)
}
