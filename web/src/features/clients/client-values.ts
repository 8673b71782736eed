import type { ClientRecord, CreateClient } from '../../api/clients.ts'
import { counted } from '../../lib/words.ts'

/** The values of a client's form. */
export interface ClientValues {
  name: string
  email: string
  chat_webhook: string
  /** `''` for the service's default. */
  plan: Plan | ''
  requests_per_second: number | string
  events_per_month: number | string
  reminder_minutes: string
  notify_resolved: boolean
  notify_escalated: boolean
  /** `HH:MM`, or empty. */
  quiet_from: string
  quiet_to: string
  digest: ClientRecord['digest']
}

export const EMPTY_CLIENT: ClientValues = {
  name: '',
  email: '',
  chat_webhook: '',
  plan: '',
  requests_per_second: '',
  events_per_month: '',
  reminder_minutes: '',
  notify_resolved: true,
  notify_escalated: true,
  quiet_from: '',
  quiet_to: '',
  digest: 'off',
}

export const clientValues = (client: ClientRecord): ClientValues => ({
  name: client.name,
  email: client.email ?? '',
  chat_webhook: client.chat_webhook ?? '',
  plan: client.plan,
  requests_per_second: client.requests_per_second ?? '',
  events_per_month: client.events_per_month ?? '',
  reminder_minutes: client.reminder_minutes === null ? '' : String(client.reminder_minutes),
  notify_resolved: client.notify_resolved,
  notify_escalated: client.notify_escalated,
  quiet_from: client.quiet_from ?? '',
  quiet_to: client.quiet_to ?? '',
  digest: client.digest,
})

/** The values in the form of the API, with null for empty ones. Only the plan `enterprise` has limits of its own. */
export function clientBody(values: ClientValues): CreateClient {
  const { plan, requests_per_second, events_per_month, email, chat_webhook, reminder_minutes, ...others } = values
  const { quiet_from, quiet_to, ...rest } = others
  return {
    ...rest,
    email: textOrNull(email),
    chat_webhook: textOrNull(chat_webhook),
    reminder_minutes: numberOrNull(reminder_minutes),
    quiet_from: textOrNull(quiet_from),
    quiet_to: textOrNull(quiet_to),
    ...(plan === '' ? {} : { plan }),
    ...(plan === 'enterprise'
      ? { requests_per_second: numberOrNull(requests_per_second), events_per_month: numberOrNull(events_per_month) }
      : {}),
  }
}

const textOrNull = (text: string): string | null => (text.trim() === '' ? null : text.trim())
const numberOrNull = (value: number | string): number | null => (value === '' ? null : Number(value))

type Plan = ClientRecord['plan']

/** The plans with the limits that the service enforces. */
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
    requests_per_second === null ? 'unlimited requests' : `${counted(requests_per_second, 'request')} a second`
  const events = events_per_month === null ? 'unlimited events' : `${counted(events_per_month, 'event')} a month`
  return `${rate}, ${events}`
}
