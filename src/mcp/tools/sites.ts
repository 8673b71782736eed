import { Type } from 'typebox'
import { fieldsOf } from '../../lib/index.ts'
import { RefusedCall } from '../ask.ts'
import {
  closed,
  countOf,
  type Entry,
  entriesOf,
  id,
  limit,
  offset,
  optionalId,
  partOf,
  partsOf,
  pick,
  pickAll,
  reading,
  rowsOf,
  time,
} from '../tool.ts'
import { INCIDENT_FIELDS } from './incidents.ts'
import { PROBE_FIELDS } from './probes.ts'

export const listClients = reading({
  name: 'list_clients',
  title: 'List clients',
  description: 'The clients, whose sites are watched, oldest first.',
  input: Type.Object({ limit, offset }, closed),
  async run({ limit: rows, offset: from = 0 }, { ask }) {
    const clients = await ask('GET', '/api/clients')
    return partOf(clients, ['id', 'name', 'is_active', 'plan', 'digest'], from, rowsOf(rows))
  },
})

export const listSites = reading({
  name: 'list_sites',
  title: 'List sites',
  description: 'The sites of one client or of all, oldest first, with when each last sent an event.',
  input: Type.Object({ client_id: optionalId('Only sites of this client'), limit, offset }, closed),
  async run({ client_id, limit: rows, offset: from = 0 }, { ask }) {
    const sites = await ask('GET', '/api/sites', { query: { client_id } })
    const names = ['id', 'client_id', 'name', 'url', 'timezone', 'is_active', 'last_event_at']
    return partOf(sites, names, from, rowsOf(rows))
  },
})

/** Tags, events and the like in one answer. */
const MOST_ROWS = 30
const MOST_HOURS = 9_600
/** Incidents that are counted. */
const MOST_INCIDENTS = 1_000

const hours = Type.Optional(
  Type.Integer({ minimum: 1, maximum: MOST_HOURS, description: 'Number of hours up to now; 24 by default' }),
)

const reportOf = (siteId: string, what: string): string => `/api/monitoring/sites/${siteId}/${what}`

const TAG_FIELDS = [
  ...['tag_key', 'executions', 'success', 'failure', 'timeout', 'exception', 'success_rate', 'avg_ms', 'p95_ms'],
]

const STATUSES: readonly unknown[] = ['critical', 'error', 'warning']

/** Sorts bad entries first. */
const byTrouble = (one: Entry, other: Entry): number => rankOf(one) - rankOf(other)

function rankOf({ last_status }: Entry): number {
  const rank = STATUSES.indexOf(last_status)
  return rank === -1 ? STATUSES.length : rank
}

const badRuns = (tag: Entry | undefined): number =>
  countOf(tag, 'failure') + countOf(tag, 'timeout') + countOf(tag, 'exception')

export const siteHealth = reading({
  name: 'site_health',
  title: 'Health of a site',
  description:
    'How a site is doing: events compared with the window before (`previous`, empty if that is no longer kept), the score with its parts, tags that fail, refused payloads, the state of its checks and its unresolved incidents (of over 1,000 the latest, and `left_out` counts within these).',
  input: Type.Object({ site_id: id('The site'), hours }, closed),
  async run({ site_id, hours: last = 24 }, { ask }) {
    // One after the other: a caller has few slots for reports.
    const site = await ask('GET', `/api/sites/${site_id}`)
    const overview = (compare?: 'previous') =>
      ask('GET', reportOf(site_id, 'overview'), { query: { hours: last, compare } })
    // The window before a long one may begin before the oldest data kept.
    const report = fieldsOf(
      await overview('previous').catch((thrown: unknown) => {
        if (thrown instanceof RefusedCall && thrown.status === 400) return overview()
        throw thrown
      }),
    )
    const probes = await ask('GET', '/api/probes', { query: { site_id } })
    const incidents = await ask('GET', '/api/incidents', { query: { site_id, resolved: false, limit: MOST_INCIDENTS } })
    const failing = entriesOf(report.tags)
      .filter((tag) => badRuns(tag) > 0)
      .toSorted((a, b) => badRuns(b) - badRuns(a))
    return {
      site: pick(site, ['id', 'client_id', 'name', 'url', 'timezone', 'is_active', 'last_event_at']),
      ...pick(report, ['from', 'to', 'total_events', 'score', 'user_data', 'ecommerce', 'rejections', 'warnings']),
      previous: pick(report.previous, ['from', 'to', 'total_events', 'score']),
      ...partsOf(MOST_ROWS, {
        events: entriesOf(report.events),
        failing_tags: pickAll(failing, TAG_FIELDS),
        probes: pickAll(probes, PROBE_FIELDS).toSorted(byTrouble),
        unresolved_incidents: pickAll(incidents, INCIDENT_FIELDS),
      }),
    }
  },
})

export const compareWindows = reading({
  name: 'compare_windows',
  title: 'Compare two windows of a site',
  description:
    'What a site sent in two windows of time, such as yesterday and the same day a week before: totals, and the events and tags that differ most. Windows of equal length compare best.',
  input: Type.Object(
    {
      site_id: id('The site'),
      from: time('Start of the first window'),
      to: time('Its end'),
      other_from: time('Start of the window to compare with'),
      other_to: time('Its end'),
    },
    closed,
  ),
  async run({ site_id, from, to, other_from, other_to }, { ask }) {
    const path = reportOf(site_id, 'overview')
    const one = fieldsOf(await ask('GET', path, { query: { from, to } }))
    const other = fieldsOf(await ask('GET', path, { query: { from: other_from, to: other_to } }))
    const summary = ['from', 'to', 'total_events', 'score', 'user_data', 'ecommerce', 'rejections']
    return {
      window: pick(one, summary),
      other: pick(other, summary),
      ...partsOf(MOST_ROWS, {
        events: differences(one.events, other.events, 'event_name', (event) => countOf(event, 'total')),
        tag_executions: differences(one.tags, other.tags, 'tag_key', (tag) => countOf(tag, 'executions')),
        tag_failures: differences(one.tags, other.tags, 'tag_key', badRuns),
      }),
    }
  },
})

/** Returns the entries whose figure differs, the largest difference first. */
function differences(one: unknown, other: unknown, key: string, figureOf: (entry: Entry | undefined) => number) {
  const byKey = (list: unknown) => new Map(entriesOf(list).map((entry) => [entry[key], entry]))
  const [here, there] = [byKey(one), byKey(other)]
  return [...new Set([...here.keys(), ...there.keys()])]
    .map((name) => ({ [key]: name, window: figureOf(here.get(name)), other: figureOf(there.get(name)) }))
    .filter(({ window, other: compared }) => window !== compared)
    .toSorted((a, b) => Math.abs(Number(b.window) - Number(b.other)) - Math.abs(Number(a.window) - Number(a.other)))
}

export const tagReport = reading({
  name: 'tag_report',
  title: 'Report on a tag',
  description: 'Outcomes and execution times of one tag of a site, and how it ended on each event.',
  input: Type.Object(
    {
      site_id: id('The site'),
      tag_key: Type.String({ minLength: 1, maxLength: 256, description: '`tag_key` of other answers' }),
      hours,
    },
    closed,
  ),
  async run({ site_id, tag_key, hours: last = 24 }, { ask }) {
    const report = fieldsOf(
      await ask('GET', reportOf(site_id, `tags/${encodeURIComponent(tag_key)}`), { query: { hours: last } }),
    )
    const { events, ...facts } = report
    return { ...facts, ...partsOf(MOST_ROWS, { events: entriesOf(events) }) }
  },
})
