import type { ReactNode } from 'react'
import type { Score } from '../../api/analytics.ts'
import { failureRate } from './heat.ts'
import { ScoreExplained } from './ScoreExplained.tsx'
import classes from './SiteFigures.module.css'
import { useSite } from './site-scope.ts'
import { change, figure, type Kind } from './words.ts'

/** The score, its parts, and the number of events. */
export function SiteFigures() {
  const { report } = useSite()
  const { score, previous } = report
  const rejected = (of: Record<string, number>) => Object.values(of).reduce((sum, count) => sum + count, 0)
  const was = previous?.score
  return (
    <Figures label="The window in numbers">
      <Figure
        name={<ScoreExplained />}
        value={score.overall}
        kind="points"
        // Why the score is capped matters more than what it was before.
        before={score.cap === null ? was?.overall : undefined}
        note={noteOf(score)}
        tone={toneOf(score.overall)}
      />
      {score.recent !== null && (
        <Figure
          name="Score, last hour"
          value={score.recent.overall}
          kind="points"
          note={score.recent.insufficient_data ? 'too few events' : (score.recent.band ?? undefined)}
          tone={toneOf(score.recent.overall)}
        />
      )}
      <Figure
        name="Delivery"
        value={score.delivery}
        kind="points"
        before={was?.delivery}
        note={score.delivery === null ? 'no tag ran' : 'of 100'}
        tone={toneOf(score.delivery)}
      />
      <Figure
        name="User data"
        value={score.user_data}
        kind="points"
        before={was?.user_data}
        note={score.user_data === null ? 'none reported' : 'of 100'}
        tone={toneOf(score.user_data)}
      />
      <Figure
        name="E-commerce"
        value={score.ecommerce}
        kind="points"
        before={was?.ecommerce}
        note={score.ecommerce === null ? 'none reported' : 'of 100'}
        tone={toneOf(score.ecommerce)}
      />
      <Figure name="Events" value={report.total_events} kind="count" before={previous?.total_events} />
      <Figure
        name="Failure rate"
        value={failureRate(report.tags)}
        kind="rate"
        before={previous && failureRate(previous.tags)}
      />
      <Figure
        name="Refused"
        value={rejected(report.rejections)}
        kind="count"
        note="requests"
        before={previous && rejected(previous.rejections)}
      />
    </Figures>
  )
}

function noteOf({ insufficient_data, cap, band }: Score): string | undefined {
  if (insufficient_data) return 'too few events'
  return cap === null ? (band ?? undefined) : `${cap.max} at most: a critical alert is open`
}

interface FigureProps {
  name: ReactNode
  value: number | null
  kind: Kind
  /** The value in the previous window. */
  before?: number | null | undefined
  /** Shown below the number when nothing is compared. */
  note?: string | undefined
  tone?: 'warning' | 'critical' | undefined
}

/** The numbers of a window, side by side. */
export function Figures({ label, children }: { label: string; children: ReactNode }) {
  return (
    <dl className={classes.figures} aria-label={label}>
      {children}
    </dl>
  )
}

export function Figure({ name, value, kind, before, note, tone }: FigureProps) {
  return (
    <div className={classes.figure}>
      <dt>{name}</dt>
      <dd>
        <b data-tone={tone}>{figure(value, kind)}</b>
        <span className={classes.note}>{change(value, before, kind) ?? note}</span>
      </dd>
    </div>
  )
}

/** The colour of the score's bands that need attention; the others have none. */
function toneOf(points: number | null): 'warning' | 'critical' | undefined {
  if (points === null || points >= 70) return undefined
  return points >= 50 ? 'warning' : 'critical'
}
