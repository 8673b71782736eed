import { parse } from 'csv-parse/sync'
import type { ApiClient } from '../../../testkit/api.ts'
import type { Say } from './compare.ts'
import { allPages } from './truth.ts'

interface Entry {
  id: number
  at: string
  actor: string
  action: string
  entity_id: string
  client_id: string | null
  before: object | null
  after: object | null
}

/** Handling again what is handled already changes nothing. */
const MAY_CHANGE_NOTHING = /^(un)?acknowledge /

/** What people change by handling an alert or an incident. */
const HANDLED = /\.((un)?acknowledge|resolve)$/
const HANDLING = /^(state|acknowledged_at|acknowledged_by|resolved_at|resolution)$/

/** The audit log: all that people did, once each, and nothing that happens by itself. */
export class Auditor {
  readonly #as: ApiClient
  #newest = 0
  /** What was found so far, newest first. */
  #known: Entry[] = []

  constructor(as: ApiClient) {
    this.#as = as
  }

  /** Reads what is new, which must be one entry for an act and none for what no one did (null). */
  async read(say: Say, act: string | null): Promise<void> {
    const found = await this.#as.ask<Entry[]>('GET', '/api/audit?limit=5')
    const entries = found.filter(({ id }) => id > this.#newest)
    this.#newest = entries[0]?.id ?? this.#newest
    this.#known.unshift(...entries)
    const isFine = act === null ? entries.length === 0 : entries.length === 1 || MAY_CHANGE_NOTHING.test(act)
    const changes = entries.map(({ action, before, after }) => `${action} ${JSON.stringify([before, after])}`)
    if (!isFine || entries.length > 1) say(`audit of ${act ?? 'what no one did'}`, changes, 'one entry for each act')
    for (const { action, before, after } of entries) {
      const changed = Object.keys(after ?? {})
      if (HANDLED.test(action))
        say(
          `fields of ${action}`,
          changed.filter((name) => !HANDLING.test(name)),
          [],
        )
      if (HANDLED.test(action) || action.endsWith('.update'))
        say(`fields of ${action}`, Object.keys(before ?? {}).toSorted(), changed.toSorted())
    }
  }

  /** Before its story begins. */
  async begin(): Promise<void> {
    this.#known = await allPages<Entry>(this.#as, '/api/audit?limit=100')
    this.#newest = this.#known[0]?.id ?? 0
  }

  /** The pages, the filters and the CSV hold the same, and nothing of another client. */
  async compare(say: Say, narrow: ApiClient, clientId: string): Promise<void> {
    const first = await this.#as.call('GET', '/api/audit?limit=7')
    // What comes after the first page was read moves no entry of the next ones.
    await this.#as.ask('POST', '/api/clients', { name: `late ${this.#newest}`, plan: 'free' })
    const [late] = await this.#as.ask<Entry[]>('GET', '/api/audit?limit=1')
    const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1]?.replace(/^https?:\/\/[^/]+/, '')
    const rest = next === undefined ? [] : await allPages<Entry>(this.#as, next)
    say('pages of the audit log', [...first.json<Entry[]>(), ...rest], this.#known)
    const all = late === undefined ? this.#known : [late, ...this.#known]
    await this.#as.ask('DELETE', `/api/clients/${late?.entity_id}`)
    const [gone] = await this.#as.ask<Entry[]>('GET', '/api/audit?limit=1')
    if (gone !== undefined) all.unshift(gone)
    say('CSV of the audit log', await csvOf(this.#as, ''), all.map(lineOf))
    const own = all.filter(({ client_id }) => client_id === clientId)
    const filter = `client_id=${clientId}`
    say('audit of a client', await allPages(this.#as, `/api/audit?${filter}&limit=50`), own)
    say('CSV of a client', await csvOf(this.#as, `?${filter}`), own.map(lineOf))
    const seen = await allPages<Entry>(narrow, '/api/audit?limit=50')
    say(
      'audit that one client sees',
      seen.map(({ id }) => id),
      own.map(({ id }) => id),
    )
    say('CSV that one client sees', await csvOf(narrow, ''), seen.map(lineOf))
    say('addresses that one client sees', JSON.stringify(seen).match(/[\w.]+@[\w.]+/), null)
    this.#known = all
    this.#newest = all[0]?.id ?? 0
  }
}

const lineOf = ({ at, actor, action, client_id, entity_id, before, after }: Entry) => [
  at,
  actor,
  action,
  client_id ?? '',
  entity_id,
  ...[before, after].map((one) => (one === null ? '' : JSON.stringify(one))),
]

async function csvOf(as: ApiClient, query: string): Promise<string[][]> {
  const { text } = await as.call('GET', `/api/audit/export.csv${query}`)
  return (parse(text) as string[][]).slice(1)
}
