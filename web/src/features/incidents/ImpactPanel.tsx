import { percent } from '../../lib/words.ts'
import { sentence } from '../alerts/words.ts'
import { type Impact, impactLines, impactSentence } from './impact.ts'
import classes from './incidents.module.css'

/** What the incident costs, and how that was found out. */
export function ImpactPanel({ impact }: { impact: Impact }) {
  const { share, estimate, sites } = impact
  return (
    <>
      <p className={classes.loss}>{impactSentence(impact) ?? 'Nothing is surely lost'}</p>
      <dl className={classes.losses}>
        {impactLines(impact).map(({ what, lost, range }) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>
              {lost}
              {range !== null && <span className={classes.muted}> {range}</span>}
            </dd>
          </div>
        ))}
        {share !== null && (
          <div>
            <dt>{sites > 1 ? `Of the traffic of ${sites} sites` : "Of the site's traffic"}</dt>
            <dd>{percent(share)}</dd>
          </div>
        )}
      </dl>
      <p className={classes.muted}>{sentence(estimate)}</p>
    </>
  )
}
