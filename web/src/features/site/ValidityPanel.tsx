import { compact } from '../../lib/words.ts'
import { type Share, SharesPanel } from './SharesPanel.tsx'
import { useSite } from './site-scope.ts'

const SHARES: readonly Share[] = [
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

/** How many commerce events hold what vendors cannot use; nothing on sites whose tag does not look at it. */
export function ValidityPanel() {
  const { total } = useSite().report.validity
  if (total === 0) return null
  return (
    <SharesPanel
      title="Faults of values"
      unit={`of ${compact(total)} commerce events that report them`}
      metric="validity"
      shares={SHARES}
      // Most faults are rare: on an axis up to 100 % they would lie on the ground.
      scale="rate"
    />
  )
}
