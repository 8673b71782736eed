import { Popover, UnstyledButton } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Info } from 'lucide-react'
import type { Score } from '../../api/analytics.ts'
import { percent, unbroken, whole } from '../../lib/words.ts'
import { fieldsOf, type Part } from './quality.ts'
import classes from './ScoreExplained.module.css'
import { useSite } from './site-scope.ts'
import { fieldName, figure } from './words.ts'

/** The word "Score", which opens an explanation of the score. */
export function ScoreExplained() {
  const { report } = useSite()
  return (
    <Popover position="bottom-start" width="min(26rem, calc(100vw - 2rem))" trapFocus returnFocus>
      <Popover.Target>
        <UnstyledButton className={classes.button} aria-label="Score: what it is made of">
          Score
          <Info size={14} aria-hidden />
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown aria-label="What the score is made of">
        <Parts score={report.score} />
      </Popover.Dropdown>
    </Popover>
  )
}

function Parts({ score }: { score: Score }) {
  const { inputs } = score
  const worst = inputs.delivery.worst_tag
  return (
    <div className={classes.parts}>
      <p>
        {score.overall === null
          ? `A score needs at least 20 events: this period has ${whole(inputs.events)}.`
          : 'Each part counts with its weight; one without data counts for nothing, and the others for more. Delivery is the lower of its two rates.'}
      </p>
      {score.cap !== null && (
        <p>
          {score.cap.max} at most while a critical alert is open:{' '}
          <Link to="/alerts/$alertId" params={{ alertId: score.cap.alert_id }}>
            {unbroken(score.cap.reason)}
          </Link>
          {score.inputs.uncapped !== null && `. Without it ${figure(score.inputs.uncapped, 'points')}.`}
        </p>
      )}
      <table>
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col">Measured</th>
            <th scope="col">Target</th>
            <th scope="col">Weight</th>
            <th scope="col">Points</th>
          </tr>
        </thead>
        <tbody>
          <PartRow name="Delivery" weight={inputs.delivery.weight} points={score.delivery} />
          <tr>
            <th scope="row">successful executions</th>
            <td>{figure(inputs.delivery.rate, 'rate')}</td>
            <td>100 %</td>
            <td />
            <td />
          </tr>
          {worst !== null && (
            <tr>
              <th scope="row">worst tag that matters: {worst.tag_key}</th>
              <td>{figure(worst.rate, 'rate')}</td>
              <td>100 %</td>
              <td />
              <td />
            </tr>
          )}
        </tbody>
        <Fields part="user_data" name="User data" points={score.user_data} />
        <Fields part="ecommerce" name="E-commerce" points={score.ecommerce} />
      </table>
    </div>
  )
}

function Fields({ part, name, points }: { part: Part; name: string; points: number | null }) {
  const { report } = useSite()
  return (
    <tbody>
      <PartRow name={name} weight={report.score.inputs[part].weight} points={points} />
      {fieldsOf(report, part).map(({ field, rate, target, weight }) =>
        target === undefined || weight === undefined ? null : (
          <tr key={field}>
            <th scope="row">{fieldName(field)}</th>
            <td>{figure(rate, 'rate')}</td>
            <td>{percent(target)}</td>
            <td>{percent(weight)}</td>
            <td>{rate === null ? '–' : figure(Math.min(1, rate / target) * 100, 'points')}</td>
          </tr>
        ),
      )}
    </tbody>
  )
}

function PartRow({ name, weight, points }: { name: string; weight: number; points: number | null }) {
  return (
    <tr className={classes.part}>
      <th scope="row">{name}</th>
      <td />
      <td />
      <td>{percent(weight)}</td>
      <td>{figure(points, 'points')}</td>
    </tr>
  )
}
