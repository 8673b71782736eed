import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiClient, SiteKey } from '../../testkit/api.ts'
import { event } from '../../testkit/payloads.ts'
import { toBytes } from './wire/message.ts'
import type { Shot } from './wire/pipeline.ts'

const VISIBLE_WITHIN_MS = 30_000
const POLL_MS = 100
const HOUR = 3_600_000

/** Events of one site that were answered 200, and those whose outcome is unknown. */
export interface Account {
  acknowledged: number
  uncertain: number
}

export const newAccount = (): Account => ({ acknowledged: 0, uncertain: 0 })

/** Sends what every tag sends, between the attacks and on their connections. */
export class Witness {
  readonly account = newAccount()
  readonly site: SiteKey
  /** Kept by design, as all names are. */
  readonly eventName: string
  /** Its requests that were answered with anything but 200, or 503 for want of room. */
  readonly refused: string[] = []

  constructor(site: SiteKey, eventName: string) {
    this.site = site
    this.eventName = eventName
  }

  shot(): Shot {
    const payload = event(Date.now(), { container_id: 'GTM-WITNESS', event_name: this.eventName })
    const headers: [string, string][] = [
      ['Host', '127.0.0.1'],
      ['Content-Type', 'application/json'],
      ['X-Service-Key', this.site.ingest_key],
    ]
    const body = Buffer.from(JSON.stringify(payload))
    return {
      bytes: toBytes({ method: 'POST', target: '/ingest', headers, body }),
      isHead: false,
      onAnswer: ({ status, body: said }) => {
        if (status === 200) this.account.acknowledged++
        // It comes amid more requests than can be answered soon, and is not counted then.
        else if (status !== 503) this.refused.push(`${status} ${said.toString().slice(0, 200)}`)
      },
      onUncertain: () => {
        this.account.uncertain++
      },
    }
  }
}

/**
 * Compares what was acknowledged with what is counted, once that is visible.
 *
 * @returns what is wrong, or null
 */
export async function countFault(
  api: ApiClient,
  site: SiteKey,
  { acknowledged, uncertain }: Account,
): Promise<string | null> {
  const deadline = Date.now() + VISIBLE_WITHIN_MS
  for (;;) {
    // Times are taken from a day ago to five minutes ahead.
    const [from, to] = [-48, 1].map((hours) => new Date(Date.now() + hours * HOUR).toISOString())
    const path = `/api/monitoring/sites/${site.id}/overview?from=${from}&to=${to}`
    const { total_events } = await api.ask<{ total_events: number }>('GET', path)
    if (total_events >= acknowledged && total_events <= acknowledged + uncertain) return null
    if (Date.now() > deadline || total_events > acknowledged + uncertain) {
      return `${acknowledged} events were acknowledged and ${uncertain} may have been, but ${total_events} are counted`
    }
    await sleep(POLL_MS)
  }
}
