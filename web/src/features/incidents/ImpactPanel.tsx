import { percent } from '../../lib/words.ts'
import { sentence } from '../alerts/words.ts'
import { type Impact, impactSentence } from './impact.ts'
import { impactLines } from './impact-lines.ts'
import classes from './incidents.module.css'

/** What the incident costs, and how that was computed. */
export function ImpactPanel({ impact }: { impact: Impact }) {
  const { share, estimate, sites, value } = impact
  return (
    <>
      <p className={classes.loss}>{impactSentence(impact) ?? 'Nothing was lost for certain'}</p>
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
      {value !== null && (
        <p>
          {value.text}
          {value.average_order_value !== null && `, at ${value.average_order_value} ${value.currency} an order`}. Orders
          may have been placed all the same: what is lost is their measurement.
        </p>
      )}
      <p className={classes.muted}>{sentence(estimate)}</p>
    </>
  )
}
