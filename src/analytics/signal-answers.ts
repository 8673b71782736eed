import { Type } from 'typebox'
import { model, nullable } from '../http/index.ts'

const Count = Type.Integer()
export const Presence = model('Presence', {
  present: Count,
  total: Count,
  rate: nullable(Type.Number({ description: '0–1; null when nothing was counted' })),
})

const ConsentClasses = model('ConsentCounts', {
  granted: Count,
  denied: Count,
  absent: Type.Integer({ description: 'The event does not report it' }),
})

const Consent = Type.Object(
  {
    total: Count,
    ad_storage: ConsentClasses,
    analytics_storage: ConsentClasses,
    ad_user_data: ConsentClasses,
    ad_personalization: ConsentClasses,
    never_updated: Presence,
    dma: Type.Integer({ description: 'Events of visitors to whom the Digital Markets Act applies' }),
    tags: Type.Array(
      Type.Object({
        tag_key: Type.String(),
        total: Count,
        ad_storage_denied: Count,
        analytics_storage_denied: Count,
      }),
      {
        description:
          'Tags that ran while consent was denied, with the number of such executions among those that reported consent',
      },
    ),
  },
  { title: 'ConsentSignals', description: 'Events by consent, among the `total` that reported it' },
)

const Identifiers = Type.Object(
  {
    total: Count,
    event_id: Presence,
    client_id: Presence,
    fbp: Presence,
    fbc: Presence,
    click_id: Presence,
    ip: Presence,
    user_agent: Presence,
  },
  {
    title: 'IdentifierSignals',
    description: 'Events with each identifier, among the `total` that reported identifiers',
  },
)

const Validity = Type.Object(
  {
    total: Count,
    value_zero: Presence,
    value_invalid: Presence,
    currency_invalid: Presence,
    transaction_duplicate: Presence,
    items_empty: Presence,
  },
  { title: 'ValueFaults', description: 'Commerce events with each fault, among the `total` that were checked' },
)

const Responses = Type.Object(
  {
    total: Count,
    tags: Type.Array(
      Type.Object({
        tag_key: Type.String(),
        total: Count,
        response_2xx: Count,
        response_3xx: Count,
        response_4xx: Count,
        response_5xx: Count,
        response_none: Type.Integer({ description: 'The vendor did not answer' }),
      }),
      { description: 'The most refused first' },
    ),
  },
  {
    title: 'TagResponses',
    description: "Tag executions by the class of their vendor's HTTP status, among the `total` that reported it",
  },
)

/** An overview's part on the signals that version 2 of the tag sends. */
export const signals = { consent: Consent, identifiers: Identifiers, validity: Validity, responses: Responses }
