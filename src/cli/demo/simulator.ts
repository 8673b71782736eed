import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Payload } from '../../journal/index.ts'
import type { Clock } from '../../lib/index.ts'
import { type IngestTarget, isAccepted, postPayload, whyUnreachable } from '../post.ts'
import type { Incident } from './incidents.ts'
import { payloadsOf, sentAt } from './payloads.ts'
import type { DemoSite } from './sites.ts'

export interface SimulatorOptions {
  sites: readonly DemoSite[]
  incidents: readonly Incident[]
  seed: string
  /** Start of each site's traffic, by `site_no`, epoch ms. What is already past is sent at once. */
  fromOf: ReadonlyMap<number, number>
  endpoint: string
  keyHeader: string
  clock: Clock
  log: Logger
}

/** Sends every site's traffic through the ingest endpoint in real time, until stopped. */
export class Simulator {
  readonly #options: SimulatorOptions
  readonly #stopping = new AbortController()
  readonly #senders: readonly Promise<void>[]

  constructor(options: SimulatorOptions) {
    this.#options = options
    this.#senders = options.sites.map((site) => this.#sendAll(site))
  }

  /** Stops sending and waits for requests in flight. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#senders)
  }

  async #sendAll({ profile, row }: DemoSite): Promise<void> {
    const { incidents, seed, fromOf, endpoint, keyHeader, clock, log } = this.#options
    const { signal } = this.#stopping
    const target: IngestTarget = { endpoint, keyHeader, key: row.ingest_key }
    const payloads = payloadsOf({ site: profile, incidents, seed }, fromOf.get(row.site_no) ?? clock.now(), Infinity)
    let trouble: string | null = null
    for (let next = payloads.next(); next.done !== true; next = payloads.next()) {
      // `pause` rejects only when the signal aborts, which the next line checks.
      await pause(Math.max(0, sentAt(next.value) - clock.now()), undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      const found = await troubleOf(target, next.value)
      // Log once when trouble begins, not for every payload.
      if (found !== null && found !== trouble) log.warn({ site: profile.name }, `the simulator's payload: ${found}`)
      trouble = found
    }
  }
}

/** Why a payload was not accepted; null when it was. */
async function troubleOf(target: IngestTarget, payload: Payload): Promise<string | null> {
  try {
    const answer = await postPayload(target, payload)
    return isAccepted(answer) ? null : `answered ${answer.status}`
  } catch (thrown) {
    return whyUnreachable(thrown)
  }
}
