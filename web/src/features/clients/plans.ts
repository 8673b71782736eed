import type { ClientRecord } from '../../api/clients.ts'
import { whole } from '../../lib/words.ts'

export type Plan = ClientRecord['plan']

/** As the service limits them; what is sent beyond is refused. */
export const PLANS: readonly { value: Plan; label: string; limits: string }[] = [
  { value: 'free', label: 'Free', limits: '10 requests a second, 100,000 events a month' },
  { value: 'pro', label: 'Pro', limits: '100 requests a second, 1,000,000 events a month' },
  { value: 'business', label: 'Business', limits: '500 requests a second, 10,000,000 events a month' },
  { value: 'enterprise', label: 'Enterprise', limits: 'custom limits, or none' },
]

export const planLabel = (plan: Plan): string => PLANS.find(({ value }) => value === plan)?.label ?? plan

export const planLimits = ({ plan, requests_per_second, events_per_month }: ClientRecord): string => {
  if (plan !== 'enterprise') return PLANS.find(({ value }) => value === plan)?.limits ?? ''
  const rate =
    requests_per_second === null ? 'as many requests as it likes' : `${whole(requests_per_second)} requests a second`
  const events = events_per_month === null ? 'as many events as it likes' : `${whole(events_per_month)} events a month`
  return `${rate}, ${events}`
}
