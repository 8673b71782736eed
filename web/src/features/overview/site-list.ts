import type { ClientState, Overview, SiteState, Status } from '../../api/overview.ts'
import { unbroken } from '../../lib/words.ts'
import { bySeverity, STATUSES, siteWaitsFor } from '../../ui/status/status.ts'

export const FILTERS = ['all', 'broken', 'silent'] as const
export type Filter = (typeof FILTERS)[number]

/** One line of the list. */
export type ListRow =
  | { kind: 'client'; key: string; client: ClientState; siteCount: number }
  | { kind: 'site'; key: string; site: SiteState; headline: Headline }
  /** Stands for the clients without any trouble, whether they are shown below it or not. */
  | { kind: 'fold'; key: 'fold'; clientCount: number; siteCount: number }

/** What a site's line says: the worst that is known, and since when if that is known too. */
export interface Headline {
  status: Status
  text: string
  /** ISO 8601 */
  since: string | null
  /** Whether someone has taken it on. */
  isAcknowledged: boolean
}

export interface ListOptions {
  filter: Filter
  /** Part of a client's or a site's name or address; case does not matter. */
  search: string
  /** Whether the healthy clients are shown although they would fold. */
  isUnfolded: boolean
  /** epoch ms */
  now: number
}

/** A site without an event for this long counts as silent, ms. What is usual for a site its own probe knows better. */
export const SILENT_MS = 3_600_000
/** So few healthy clients do not get in the way of anything. */
const FOLD_FROM = 4

/** The lines of the list: worst client first, in it the worst site first, healthy clients folded into one line. */
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
/** Every site of it is fine, and there is one. */
export const isHealthy = ({ sites, open_alerts }: ClientState): boolean =>
  open_alerts === 0 && sites.length > 0 && sites.every(({ status }) => status === 'ok')

/** Critical, failing or warning, or with an alert that is not settled. */
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

/** Orders sites, or clients: the worst come first. */
export const byTrouble = (
  a: Pick<SiteState, 'status' | 'open_alerts' | 'name'>,
  b: Pick<SiteState, 'status' | 'open_alerts' | 'name'>,
): number => bySeverity(a.status, b.status) || b.open_alerts - a.open_alerts || collator.compare(a.name, b.name)

/** An alert says it best, as it knows since when; then the worst probe; then that all is fine. */
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

/** The one sentence over everything: what is wrong first, then what is known to be well, then what is not known. */
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
