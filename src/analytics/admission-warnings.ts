import { isoTime, nextMonthStart, number, percent } from '../lib/index.ts'
import { monthUsage } from '../management/index.ts'
import type { Kysely, SiteRow, Tables } from '../store/index.ts'
import type { Warning } from './warnings.ts'

/** Why requests of a site are refused now, or will soon be; not bound to a window. */
export async function admissionWarnings(db: Kysely<Tables>, site: SiteRow, now: number): Promise<Warning[]> {
  const warnings: Warning[] = []
  if (site.key_revoked_at !== null) {
    const message = `the key was revoked at ${isoTime(site.key_revoked_at)}: every request of the site is refused`
    warnings.push({ code: 'key_revoked', message })
  }
  const usage = await monthUsage(db, site.client_id, now)
  if (usage === null || usage.level === 'ok') return warnings
  const { events, limit, level } = usage
  const used = `${number(events)} of the client's ${number(limit)} events of this month`
  const until = isoTime(nextMonthStart(now))
  warnings.push(
    level === 'exceeded'
      ? { code: 'quota_used_up', message: `${used} are used up: every request is refused until ${until}` }
      : {
          code: 'quota_near',
          message: `${used} (${percent(events / limit)}) are used: once all are, every request is refused until ${until}`,
        },
  )
  return warnings
}
