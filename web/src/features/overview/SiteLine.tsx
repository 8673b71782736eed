import { memo } from 'react'
import type { SiteState } from '../../api/overview.ts'
import { useNow } from '../../lib/use-now.ts'
import { compact, counted, duration, whole } from '../../lib/words.ts'
import { RelativeTime } from '../../ui/RelativeTime.tsx'
import { Sparkline } from '../../ui/Sparkline.tsx'
import { StatusMark } from '../../ui/status/StatusMark.tsx'
import { STATUS_WORDS } from '../../ui/status/status.ts'
import classes from './overview.module.css'
import { SiteName } from './SiteName.tsx'
import type { Headline } from './wall.ts'

interface Props {
  site: SiteState
  headline: Headline
}

export const SiteLine = memo(
  function SiteLine({ site, headline }: Props) {
    return (
      <div className={classes.site} data-status={site.status}>
        <StatusMark
          status={site.status}
          label={headline.isAcknowledged ? `${STATUS_WORDS[site.status]}, acknowledged` : STATUS_WORDS[site.status]}
          variant={headline.isAcknowledged ? 'outline' : 'filled'}
        />
        <SiteName site={site} />
        <State headline={headline} />
        <span className={classes.sparkline}>
          <Sparkline values={site.sparkline} label={sparklineLabel(site.sparkline)} />
        </span>
        <span className={classes.events} title={`${whole(site.events_24h)} events in 24 hours`}>
          {compact(site.events_24h)}
          <span className="sr-only"> events in 24 hours</span>
        </span>
        <Score score={site.score} cap={site.score_cap} />
        <span className={classes.lastSeen}>
          <span className="sr-only">last event </span>
          <RelativeTime at={site.last_event_at} zone={site.timezone} never="no event yet" />
        </span>
      </div>
    )
  },
  // The headline is made of the site and of nothing else.
  (before, after) => before.site === after.site,
)

function State({ headline: { status, text, since } }: { headline: Headline }) {
  const now = useNow()
  const isQuiet = status === 'ok' || status === 'unknown'
  return (
    <span className={classes.state} data-quiet={isQuiet || undefined} title={text}>
      <span className={classes.stateText}>{text}</span>
      {since !== null && <span className={classes.muted}> · {lasting(now - Date.parse(since))}</span>}
    </span>
  )
}

const lasting = (ms: number): string => (ms < 60_000 ? 'just now' : duration(ms))

function Score({ score, cap }: { score: number | null; cap: SiteState['score_cap'] }) {
  const band = score === null || score >= 70 ? 'good' : score >= 50 ? 'warning' : 'critical'
  return (
    <span
      className={classes.score}
      data-band={band}
      title={cap === null ? undefined : `${cap.max} at most while a critical alert is open: ${cap.reason}`}
    >
      <span className="sr-only">score </span>
      {score === null ? '–' : Math.round(score)}
    </span>
  )
}

function sparklineLabel(values: readonly number[]): string {
  const done = values.slice(0, -1)
  return `Events an hour: at most ${counted(Math.max(0, ...done), 'event')}, ${whole(done.at(-1) ?? 0)} in the last full hour`
}
