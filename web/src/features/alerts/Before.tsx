import { useQuery } from '@tanstack/react-query'
import type { AlertDetail } from '../../api/alerts.ts'
import { markersQuery } from '../../api/analytics.ts'
import { InlineError } from '../../ui/InlineError.tsx'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import classes from './detail.module.css'

const HOUR = 3_600_000
const BEFORE = 24 * HOUR

/** The versions that were published in the day before it began, and until it was seen, the last first. */
export function Before({ alert, zone }: { alert: AlertDetail; zone: string | undefined }) {
  const began = Date.parse(alert.started_at)
  const range = {
    from: new Date(began - BEFORE).toISOString(),
    to: new Date(Date.parse(alert.opened_at) + 1_000).toISOString(),
  }
  const { data: markers = [], error, refetch } = useQuery(markersQuery(alert.site_id, range))
  // The last one stands in the sentence.
  const earlier = markers.toReversed().slice(alert.change === null ? 0 : 1)
  return (
    <div className={classes.before}>
      <p>
        {alert.change === null
          ? 'No new version was seen in the 6 hours before it began.'
          : `It began ${alert.change}.`}
      </p>
      {error !== null && <InlineError error={error} onRetry={() => void refetch()} height={64} />}
      {earlier.length > 0 && (
        <ul>
          {earlier.map(({ at, source, from_version, to_version }) => (
            <li key={`${at} ${source}`}>
              {source} {from_version === null ? to_version : `${from_version} → ${to_version}`}
              <span className={classes.muted}>
                {' '}
                <RelativeTime at={at} {...(zone === undefined ? {} : { zone })} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
