import { counted } from '../../lib/words.ts'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { type Share, SharesPanel } from './SharesPanel.tsx'
import page from './site.module.css'
import { useSite } from './site-scope.ts'
import { CONSENT_TAG_COLUMNS, type TagConsent } from './table-columns.tsx'
import { roughly } from './words.ts'

/** Maximum number of tags; more would need scrolling past. */
const TAGS = 10

const CONSENT_SHARES: readonly Share[] = [
  { key: 'ad_storage_granted', name: 'ads granted', rateIn: rateOf('ad_storage', 'granted') },
  { key: 'ad_storage_denied', name: 'ads denied', rateIn: rateOf('ad_storage', 'denied') },
  { key: 'analytics_storage_granted', name: 'analytics granted', rateIn: rateOf('analytics_storage', 'granted') },
  { key: 'ad_storage_absent', name: 'no signal', rateIn: rateOf('ad_storage', 'absent') },
  { key: 'never_updated', name: 'never updated', rateIn: ({ consent }) => consent.never_updated.rate },
]

function rateOf(purpose: 'ad_storage' | 'analytics_storage', said: 'granted' | 'denied' | 'absent'): Share['rateIn'] {
  return ({ consent }) => (consent.total === 0 ? null : consent[purpose][said] / consent.total)
}

/** Visitors' consent over time, and the tags that ran without it; renders nothing on sites whose tag does not report consent. */
export function ConsentPanel() {
  const { consent } = useSite().report
  if (consent.total === 0) return null
  return (
    <SharesPanel
      title="Consent"
      unit={`of ${roughly(consent.total, 'event that reports it', 'events that report it')}`}
      metric="consent"
      shares={CONSENT_SHARES}
      scale="share"
      foot={consent.tags.length > 0 ? <WithoutConsent tags={consent.tags} /> : undefined}
    />
  )
}

const WITHOUT_CONSENT = 'Tags that ran while ads or analytics was denied'

/** @param tags the most frequent first */
function WithoutConsent({ tags }: { tags: readonly TagConsent[] }) {
  const { view } = useSite()
  const rest = tags.length - TAGS
  return (
    <div className={page.tableSection}>
      <h3>{WITHOUT_CONSENT}</h3>
      <p className={page.key}>
        How many of their executions, on events that report consent. Google’s tags do so on purpose: they send without
        cookies then.
      </p>
      <DataTable
        label={WITHOUT_CONSENT}
        columns={CONSENT_TAG_COLUMNS}
        rows={tags.slice(0, TAGS)}
        keyOf={({ tag_key }) => tag_key}
        onOpen={({ tag_key }) => view.setFocus({ kind: 'tag', name: tag_key })}
      />
      {rest > 0 && <p className={page.key}>and {counted(rest, 'more tag')}</p>}
    </div>
  )
}

const IDENTIFIER_SHARES: readonly Share[] = [
  { key: 'event_id', name: 'event id', rateIn: ({ identifiers }) => identifiers.event_id.rate },
  { key: 'client_id', name: 'client id', rateIn: ({ identifiers }) => identifiers.client_id.rate },
  { key: 'fbp', name: 'fbp', rateIn: ({ identifiers }) => identifiers.fbp.rate },
  { key: 'fbc', name: 'fbc', rateIn: ({ identifiers }) => identifiers.fbc.rate },
  { key: 'click_id', name: 'click id', rateIn: ({ identifiers }) => identifiers.click_id.rate },
  { key: 'ip', name: 'IP address', rateIn: ({ identifiers }) => identifiers.ip.rate },
  { key: 'user_agent', name: 'user agent', rateIn: ({ identifiers }) => identifiers.user_agent.rate },
]

/** The share of events with each identifier of visitors and events; renders nothing on sites whose tag does not report them. */
export function IdentifiersPanel() {
  const { total } = useSite().report.identifiers
  if (total === 0) return null
  return (
    <SharesPanel
      title="Identifiers"
      unit={`of ${roughly(total, 'event that reports them', 'events that report them')}`}
      metric="identifiers"
      shares={IDENTIFIER_SHARES}
      scale="share"
    />
  )
}

const VALIDITY_SHARES: readonly Share[] = [
  { key: 'value_zero', name: 'value 0', rateIn: ({ validity }) => validity.value_zero.rate },
  { key: 'value_invalid', name: 'value not a number', rateIn: ({ validity }) => validity.value_invalid.rate },
  { key: 'currency_invalid', name: 'currency not ISO 4217', rateIn: ({ validity }) => validity.currency_invalid.rate },
  { key: 'items_empty', name: 'items empty', rateIn: ({ validity }) => validity.items_empty.rate },
  {
    key: 'transaction_duplicate',
    name: 'duplicate transaction',
    rateIn: ({ validity }) => validity.transaction_duplicate.rate,
  },
]

/** The share of e-commerce events with unusable values; renders nothing on sites whose tag does not check them. */
export function ValidityPanel() {
  const { total } = useSite().report.validity
  if (total === 0) return null
  return (
    <SharesPanel
      title="Faults of values"
      unit={`of ${roughly(total, 'commerce event that reports them', 'commerce events that report them')}`}
      metric="validity"
      shares={VALIDITY_SHARES}
      // Most faults are rare and would be invisible on an axis up to 100 %.
      scale="rate"
    />
  )
}
