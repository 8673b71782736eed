import type { ClientState, Overview, SiteState, Status } from '../../api/overview.ts'
import { unbroken } from '../../lib/words.ts'
import { bySeverity, STATUSES, siteWaitsFor } from '../../ui/status/status.ts'

export const FILTERS = ['all', 'broken', 'silent'] as const
export type Filter = (typeof FILTERS)[number]

/** One line of the list. */
export type ListRow =
  | { kind: 'client'; key: string; client: ClientState; siteCount: number }
  | { kind: 'site'; key: string; site: SiteState; headline: Headline }
  /** The line for all clients without trouble, whether they are shown below it or not. */
  | { kind: 'fold'; key: 'fold'; clientCount: number; siteCount: number }

/** The text of a site's line: the worst that is known, and since when. */
export interface Headline {
  status: Status
  text: string
  /** ISO 8601 */
  since: string | null
  /** Whether someone has acknowledged it. */
  isAcknowledged: boolean
}

export interface ListOptions {
  filter: Filter
  /** Part of a client's or a site's name or address; case does not matter. */
  search: string
  /** Whether healthy clients are shown instead of folded. */
  isUnfolded: boolean
  /** epoch ms */
  now: number
}

/** A site without an event for this long counts as silent, ms. Its own probe knows better what is usual. */
export const SILENT_MS = 3_600_000
/** Number of healthy clients from which they are folded. */
const FOLD_FROM = 4

/** The lines of the list: the worst client first, with its worst site first, and healthy clients folded into one line. */
export function listRows(overview: Overview, options: ListOptions): ListRow[] {
  const { filter, search, isUnfolded, now } = options
  const groups = overview.clients
    .map((client) => ({ client, sites: matching(client, filter, search.trim().toLowerCase(), now) }))
    .filter(({ client, sites }) => sites.length > 0 || (client.sites.length === 0 && isPlain(filter, search)))
    .toSorted((a, b) => byTrouble(a.client, b.client))
  const healthy = groups.filter(({ client }) => isHealthy(client))
  const folds = isPlain(filter, search) && healthy.length >= FOLD_FROM
  const rowsOf = ({ client, sites }: (typeof groups)[number]): ListRow[] => [
    { kind: 'client', key: client.id, client, siteCount: client.sites.length },
    ...sites
      .toSorted(byTrouble)
      .map((site) => ({ kind: 'site' as const, key: site.id, site, headline: headlineOf(site) })),
  ]
  if (!folds) return groups.flatMap(rowsOf)
  const fold: ListRow = {
    kind: 'fold',
    key: 'fold',
    clientCount: healthy.length,
    siteCount: healthy.reduce((sum, { sites }) => sum + sites.length, 0),
  }
  return [
    ...groups.filter(({ client }) => !isHealthy(client)).flatMap(rowsOf),
    fold,
    ...(isUnfolded ? healthy.flatMap(rowsOf) : []),
  ]
}

const isPlain = (filter: Filter, search: string): boolean => filter === 'all' && search.trim() === ''
/** Whether a client has sites and all of them are fine. */
export const isHealthy = ({ sites, open_alerts }: ClientState): boolean =>
  open_alerts === 0 && sites.length > 0 && sites.every(({ status }) => status === 'ok')

/** Whether a site is critical, failing or warning, or has an open alert. */
export const isBroken = ({ status, open_alerts }: SiteState): boolean =>
  open_alerts > 0 || (status !== 'ok' && status !== 'unknown')

export const isSilent = ({ last_event_at }: SiteState, now: number): boolean =>
  last_event_at === null || now - Date.parse(last_event_at) >= SILENT_MS

function matching(client: ClientState, filter: Filter, search: string, now: number): SiteState[] {
  const isWholeClient = client.name.toLowerCase().includes(search)
  return client.sites.filter(
    (site) =>
      (filter === 'all' || (filter === 'broken' ? isBroken(site) : isSilent(site, now))) &&
      (isWholeClient || `${site.name}\n${site.url}`.toLowerCase().includes(search)),
  )
}

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** Orders sites or clients, the worst first. */
export const byTrouble = (
  a: Pick<SiteState, 'status' | 'open_alerts' | 'name'>,
  b: Pick<SiteState, 'status' | 'open_alerts' | 'name'>,
): number => bySeverity(a.status, b.status) || b.open_alerts - a.open_alerts || collator.compare(a.name, b.name)

/** The headline of a site: its worst alert, which knows since when, else its worst probe, else that all is fine. */
export function headlineOf(site: SiteState): Headline {
  const { status, worst_alert } = site
  if (worst_alert !== null) {
    const { title, started_at, state } = worst_alert
    return { status, text: unbroken(title), since: started_at, isAcknowledged: state === 'acknowledged' }
  }
  const worst = site.probes.find((probe) => probe.status === status)
  if (status === 'ok') return { status, text: 'all fine', since: null, isAcknowledged: false }
  if (status === 'unknown') return { status, text: siteWaitsFor(site), since: null, isAcknowledged: false }
  if (worst === undefined) return { status, text: 'no probes yet', since: null, isAcknowledged: false }
  return { status, text: unbroken(capitalised(worst.message ?? worst.name)), since: null, isAcknowledged: false }
}

const capitalised = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** The sentence at the top: first what is wrong, then what is fine, then what is unknown. */
export function verdict({ totals }: Pick<Overview, 'totals'>): string {
  if (totals.sites === 0) return 'No site is watched'
  if (totals.ok === totals.sites) return 'All sites are fine'
  const worst = STATUSES.find((status) => totals[status] > 0 && status !== 'ok' && status !== 'unknown')
  const learning = totals.unknown - totals.waiting
  const parts = [
    worst === undefined ? null : troubleWords(worst, totals[worst]),
    totals.ok === 0 || worst !== undefined ? null : `${totals.ok} healthy`,
    totals.waiting === 0 ? null : `${totals.waiting} waiting for a first event`,
    learning <= 0 ? null : `${learning} not judged yet`,
  ]
  return parts.filter((part) => part !== null).join(' · ')
}

function troubleWords(status: Status, count: number): string {
  const sites = count === 1 ? '1 site' : `${count} sites`
  if (status === 'critical') return `${sites} ${count === 1 ? 'is' : 'are'} broken`
  if (status === 'error') return `${sites} cannot be checked`
  return `${sites} ${count === 1 ? 'needs' : 'need'} a look`
}
