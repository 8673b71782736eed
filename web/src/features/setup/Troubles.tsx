import { useQuery } from '@tanstack/react-query'
import { diagnosticsQuery, recentQuery } from '../../api/analytics.ts'
import type { SiteRecord } from '../../api/sites.ts'
import { useNow } from '../../lib/external.ts'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import type { IngestAddress } from './ingest.ts'
import classes from './setup.module.css'
import { type Trouble, troublesOf } from './troubles.ts'

interface Props {
  site: SiteRecord
  ingest: IngestAddress
}

/** Poll interval, so that mistakes show soon after they are made, ms. */
const ASK_MS = 5_000

/** Likely reasons why no event has arrived; renders nothing when there are none. */
export function Troubles({ site, ingest }: Props) {
  const now = useNow()
  const recent = useQuery({ ...recentQuery(site.id), refetchInterval: ASK_MS })
  const diagnostics = useQuery({ ...diagnosticsQuery(site.id), refetchInterval: ASK_MS })
  if (!recent.data || !diagnostics.data) return null
  const troubles = troublesOf({
    recent: recent.data,
    diagnostics: diagnostics.data,
    endpointHost: new URL(ingest.endpoint).hostname,
    pageHost: window.location.hostname,
    waitedMs: now - Date.parse(site.created_at),
  })
  if (troubles.length === 0) return null
  return (
    <section className={classes.block} aria-labelledby="troubles">
      <h3 id="troubles">Why nothing may have arrived yet</h3>
      <ul className={classes.checks}>
        {troubles.map((trouble) => (
          <Line key={trouble.id} trouble={trouble} />
        ))}
      </ul>
    </section>
  )
}

function Line({ trouble: { status, title, text } }: { trouble: Trouble }) {
  return (
    <li>
      <StatusMark status={status} label={status === 'warning' ? 'found' : 'possible'} />
      <div>
        <b>{title}</b>
        <p>{text}</p>
      </div>
    </li>
  )
}
