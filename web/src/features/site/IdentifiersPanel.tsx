import { compact } from '../../lib/words.ts'
import { type Share, SharesPanel } from './SharesPanel.tsx'
import { useSite } from './site-scope.ts'

const SHARES: readonly Share[] = [
  { key: 'event_id', name: 'event id', rateIn: ({ identifiers }) => identifiers.event_id.rate },
  { key: 'client_id', name: 'client id', rateIn: ({ identifiers }) => identifiers.client_id.rate },
  { key: 'fbp', name: 'fbp', rateIn: ({ identifiers }) => identifiers.fbp.rate },
  { key: 'fbc', name: 'fbc', rateIn: ({ identifiers }) => identifiers.fbc.rate },
  { key: 'click_id', name: 'click id', rateIn: ({ identifiers }) => identifiers.click_id.rate },
  { key: 'ip', name: 'IP address', rateIn: ({ identifiers }) => identifiers.ip.rate },
  { key: 'user_agent', name: 'user agent', rateIn: ({ identifiers }) => identifiers.user_agent.rate },
]

/** How many events carry what vendors tell visitors and events by; nothing on sites whose tag does not report it. */
export function IdentifiersPanel() {
  const { total } = useSite().report.identifiers
  if (total === 0) return null
  return (
    <SharesPanel
      title="Identifiers"
      unit={`of ${compact(total)} events that report them`}
      metric="identifiers"
      shares={SHARES}
      scale="share"
    />
  )
}
