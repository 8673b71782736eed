import type { EventPayload, VALIDITY_COLUMNS } from '../../journal/index.ts'
import type { Incident } from './incidents.ts'
import type { ConsentRates, EventProfile, TagProfile } from './profile.ts'
import type { Random } from './random.ts'

type Consent = NonNullable<EventPayload['consent']>
type Identifiers = NonNullable<EventPayload['identifiers']>
type Validity = Pick<NonNullable<EventPayload['ecommerce']>, (typeof VALIDITY_COLUMNS)[number]>
type Execution = EventPayload['tags'][number]

/** How often each identifier is present on an everyday event, on every site. */
const IDENTIFIERS = {
  event_id: 0.992,
  client_id: 0.97,
  fbp: 0.64,
  fbc: 0.09,
  click_id: 0.13,
  user_agent: 0.999,
} as const
/** How often each fault occurs in a shop's e-commerce data. */
const FAULTS = { value_zero: 0.006, value_invalid: 0.001, currency_invalid: 0.0004, items_empty: 0.004 } as const
/** How often buyers reload the confirmation page, which sends the purchase again. */
const REPEATED = 0.004
/** Share of successful executions that a vendor answers with 4xx on a good day. */
const REFUSED = 0.002

/** The consent that an event reports: the visitor's choice, or the default, which denies everything. Undefined without a signal. */
export function consentOf(rates: ConsentRates, wrong: readonly Incident[], random: Random): Consent | undefined {
  // Draw all four in any case, so that later draws do not depend on these outcomes.
  const says = random()
  const chooses = random()
  const grantsAds = random()
  const grantsAnalytics = random()
  if (says >= rates.signal) return undefined
  const updated = chooses < rates.choice && !wrong.some(({ kind }) => kind === 'consent is not updated')
  const ads = updated && grantsAds < rates.ads ? 'granted' : 'denied'
  return {
    ad_storage: ads,
    analytics_storage: updated && grantsAnalytics < rates.analytics ? 'granted' : 'denied',
    ad_user_data: ads,
    ad_personalization: ads,
    updated,
    dma: rates.dma,
  }
}

/** Whether a tag may run: those of vendors without a consent mode do not run when ads are denied. */
export const mayRun = ({ isAfterConsent = false }: TagProfile, consent: Consent | undefined): boolean =>
  !isAfterConsent || consent?.ad_storage !== 'denied'

export const identifierFlags = (random: Random): Identifiers => ({
  has_event_id: random() < IDENTIFIERS.event_id,
  has_client_id: random() < IDENTIFIERS.client_id,
  has_fbp: random() < IDENTIFIERS.fbp,
  has_fbc: random() < IDENTIFIERS.fbc,
  has_click_id: random() < IDENTIFIERS.click_id,
  has_ip: true,
  has_user_agent: random() < IDENTIFIERS.user_agent,
})

export function addValidity(flags: Validity, { ecommerce }: EventProfile, random: Random): void {
  flags.value_zero = random() < FAULTS.value_zero
  flags.value_invalid = random() < FAULTS.value_invalid
  flags.currency_invalid = random() < FAULTS.currency_invalid
  flags.items_empty = random() < FAULTS.items_empty
  if (ecommerce?.transactionId !== undefined) flags.transaction_duplicate = random() < REPEATED
}

/** Whether a purchase is reported a second time, with the same transaction. */
export const comesTwice = (event: EventProfile, wrong: readonly Incident[]): boolean =>
  event.ecommerce?.transactionId !== undefined && wrong.some(({ kind }) => kind === 'purchases come twice')

/** The second report of an event: the same payload, marked as a duplicate. */
export const asSecond = (event: EventPayload): EventPayload => ({
  ...event,
  ecommerce: { ...event.ecommerce, transaction_duplicate: true },
})

/** How the vendor answered, for tags that report it. The container counts a refused request as a success. */
export function responseOf(
  { name, saysResponse = false }: TagProfile,
  { status }: Execution,
  wrong: readonly Incident[],
  random: Random,
): Execution['response'] {
  if (!saysResponse) return undefined
  if (status !== 'success') return status === 'failure' ? '5xx' : 'none'
  const refusing = wrong.reduce(
    (share, incident) => (incident.kind === 'vendor refuses' && incident.tag === name ? incident.share : share),
    REFUSED,
  )
  return random() < refusing ? '4xx' : '2xx'
}
