import { type MutedNow, mutedNow } from '../alerts/index.ts'
import { monthUsage } from '../management/index.ts'
import type { DigestMorning } from '../notifications/index.ts'
import { chunksOf, type Kysely, type SiteRow, type Tables } from '../store/index.ts'
import { Changes, changeInWords, versionInWords, versionsIn, weeksOf } from '../today/index.ts'
import type { DigestContext, DueDigest } from './due-digest.ts'

/** No one reads more of them in an e-mail. */
const MOST_CHANGES = 10

/**
 * What the page of the morning says of a client, as its digest says it: of the day that is reported on. What changed against the week before
 * is of days, and missing where a week is reported on.
 *
 * @param sites those that the digest is about
 */
export async function morningOf(
  context: DigestContext,
  { clientId, kind, timezone, period }: DueDigest,
  sites: readonly SiteRow[],
): Promise<DigestMorning> {
  const { read } = context.store
  const now = context.clock.now()
  const names = new Map(sites.map(({ id, name }) => [id, name]))
  const numbers = new Map(sites.map(({ site_no, name }) => [site_no, name]))
  const found = kind === 'daily' ? await new Changes(context).of(sites, weeksOf(period, timezone)) : { entries: [] }
  const versions = await versionsIn(read, [...names.keys()], period)
  const usage = await monthUsage(read, clientId, now)
  return {
    changes: found.entries.slice(0, MOST_CHANGES).map((change) => ({
      site: numbers.get(change.siteNo) ?? '',
      text: changeInWords(change),
    })),
    versions: versions.map(({ site_id, at, ...version }) => ({
      site: names.get(site_id) ?? '',
      text: versionInWords(version),
      at,
    })),
    quota: usage === null || usage.level === 'ok' ? null : { events: usage.events, limit: usage.limit },
    muted: await mutedIn(read, await mutedNow(context.store, [clientId], now), names),
  }
}

/** A silence or maintenance with what it is of. */
async function mutedIn(
  read: Kysely<Tables>,
  muted: readonly MutedNow[],
  sites: ReadonlyMap<string, string>,
): Promise<DigestMorning['muted']> {
  const probes = new Map<string, string>()
  for (const chunk of chunksOf(muted.flatMap(({ probe_id }) => probe_id ?? []))) {
    const rows = await read.selectFrom('probes').select(['id', 'name', 'site_id']).where('id', 'in', chunk).execute()
    for (const { id, name, site_id } of rows) probes.set(id, `${name} of ${sites.get(site_id) ?? 'a site'}`)
  }
  return muted.map(({ kind, site_id, probe_id, incident_id, subject_label, why, ends_at, until_resolved }) => {
    const ofWhole = incident_id === null ? 'all sites' : 'an incident'
    const of = probe_id === null ? (sites.get(site_id ?? '') ?? ofWhole) : (probes.get(probe_id) ?? 'a probe')
    return {
      kind,
      of: subject_label === null ? of : `${of}: ${subject_label}`,
      why,
      ends_at: until_resolved ? null : Date.parse(ends_at),
    }
  })
}
