import { setTimeout as sleep } from 'node:timers/promises'
import { apiClient } from '../../testkit/api.ts'
import type { SoakEnvironment } from './environment/environment.ts'
import { GROUPS } from './environment/targets.ts'
import { metric } from './service-figures.ts'

/** What became of the alerts that the broken targets raised, and of the messages about them. */
export interface Alerting {
  alerts: number
  unresolved: number
  pendingMessages: number
  givenUpMessages: number
}

export interface Breaks {
  seconds: number
  /** How long a group of targets stays broken, and how long it takes from one group to the next. */
  brokenSeconds: number
  cycleSeconds: number
}

/** Alerts and messages that are under way at the end get this long. */
const SETTLE_MS = 120_000
const POLL_MS = 500
const MOST_ALERTS = 1_000

/** Breaks one group of targets after the other, each only once in many cycles: one that flaps would stay open. */
export async function breakInTurns(
  environment: SoakEnvironment,
  { seconds, brokenSeconds, cycleSeconds }: Breaks,
): Promise<void> {
  for (let cycle = 0; (cycle + 1) * cycleSeconds <= seconds; cycle++) {
    await environment.break(cycle % GROUPS)
    await sleep(brokenSeconds * 1_000)
    await environment.break(null)
    await sleep((cycleSeconds - brokenSeconds) * 1_000)
  }
}

/** Waits until all alerts are resolved and all messages sent; at the latest after two minutes. */
export async function settledAlerting(url: string): Promise<Alerting> {
  const deadline = Date.now() + SETTLE_MS
  for (;;) {
    const found = await readAlerting(url)
    if ((found.unresolved === 0 && found.pendingMessages === 0) || Date.now() > deadline) return found
    await sleep(POLL_MS)
  }
}

async function readAlerting(url: string): Promise<Alerting> {
  const api = apiClient(url)
  const alerts = await api.ask<{ state: string }[]>('GET', `/api/alerts?limit=${MOST_ALERTS}`)
  const { text: metrics } = await api.call('GET', '/metrics')
  return {
    alerts: alerts.length,
    unresolved: alerts.filter(({ state }) => state !== 'resolved').length,
    pendingMessages: metric(metrics, 'tagwarden_deliveries_pending'),
    givenUpMessages: metric(metrics, 'tagwarden_deliveries_given_up_total'),
  }
}
