import type { ClientRow } from '../store/index.ts'

export const PLANS = ['free', 'pro', 'business', 'enterprise'] as const
export type Plan = (typeof PLANS)[number]

/** What a client's sites may send together; null: as much as they like. */
export interface Limits {
  requestsPerSecond: number | null
  /** Per calendar month, UTC. */
  eventsPerMonth: number | null
}

/** The user's document, section 8. */
const FIXED_LIMITS: Readonly<Record<Exclude<Plan, 'enterprise'>, Limits>> = {
  free: { requestsPerSecond: 10, eventsPerMonth: 100_000 },
  pro: { requestsPerSecond: 100, eventsPerMonth: 1_000_000 },
  business: { requestsPerSecond: 500, eventsPerMonth: 10_000_000 },
}

/** @throws Error when the row was not written by this program: the store holds no other plan. */
export function planOf({ plan }: Pick<ClientRow, 'plan'>): Plan {
  const known = PLANS.find((candidate) => candidate === plan)
  if (known === undefined) throw new Error(`the store holds an unknown plan: ${plan}`)
  return known
}

/** A client's limits: those of its plan, and with `enterprise` its own. */
export function limitsOf(client: Pick<ClientRow, 'plan' | 'requests_per_second' | 'events_per_month'>): Limits {
  const plan = planOf(client)
  if (plan !== 'enterprise') return FIXED_LIMITS[plan]
  return { requestsPerSecond: client.requests_per_second, eventsPerMonth: client.events_per_month }
}
