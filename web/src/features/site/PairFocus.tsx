import { UnstyledButton } from '@mantine/core'
import { Unlink } from 'lucide-react'
import type { TagAnswer } from '../../api/analytics.ts'
import { EmptyState, ErrorState } from '../../ui/States.tsx'
import { FocusBar } from './Focus.tsx'
import { badOf, shareOf } from './heat.ts'
import matrix from './MatrixPanel.module.css'
import { ChartsSkeleton } from './NoData.tsx'
import { OutcomesPanel } from './OutcomesPanel.tsx'
import { Figure, Figures } from './SiteFigures.tsx'
import classes from './site.module.css'
import { useSite } from './site-scope.ts'
import { useTagReport } from './use-site-report.ts'

/** One tag on one event: how often it ran, and its outcomes. */
export function PairFocus({ tag, event }: { tag: string; event: string }) {
  const { answer, was: wasOnAll } = useTagReport(tag)
  const { data, error, refetch } = answer
  if (data === undefined) {
    return error === null ? <ChartsSkeleton /> : <ErrorState error={error} onRetry={() => void refetch()} />
  }
  const now = onEvent(data, event)
  const was = wasOnAll === undefined ? undefined : onEvent(wasOnAll, event)
  const bar = <FocusBar kind="Tag" name={<Both tag={tag} event={event} />} />
  if (now === null) {
    return (
      <div className={classes.charts}>
        {bar}
        <EmptyState icon={Unlink} title="This tag is not known to have run on this event in this period">
          Choose a longer period. Batches count a tag over all their events: which one it ran on is known from requests
          per event only.
        </EmptyState>
      </div>
    )
  }
  const of = { tag_key: tag, event_name: event }
  return (
    <div className={classes.charts}>
      {bar}
      <Figures label={`${tag} on ${event} in numbers`}>
        <Figure name="Executions" value={now.executions} kind="count" before={was?.executions} />
        <Figure
          name="Failure rate"
          value={shareOf(badOf(now), now.executions)}
          kind="rate"
          before={was && shareOf(badOf(was), was.executions)}
        />
        <Figure
          name="Share of the tag's executions"
          value={shareOf(now.executions, data?.executions ?? 0)}
          kind="rate"
          before={was && shareOf(was.executions, wasOnAll?.executions ?? 0)}
        />
      </Figures>
      <OutcomesPanel of={of} now={now} before={was} />
    </div>
  )
}

/** Links to the tag alone and to the event alone. */
function Both({ tag, event }: { tag: string; event: string }) {
  const { setFocus } = useSite().view
  return (
    <>
      <UnstyledButton className={matrix.name} onClick={() => setFocus({ kind: 'tag', name: tag })}>
        {tag}
      </UnstyledButton>{' '}
      <span className={classes.muted}>on event</span>{' '}
      <UnstyledButton className={matrix.name} onClick={() => setFocus({ kind: 'event', name: event })}>
        {event}
      </UnstyledButton>
    </>
  )
}

/** The tag's figures on the event; null when it did not run on it. */
const onEvent = (tag: TagAnswer | null, event: string) =>
  tag?.events.find(({ event_name }) => event_name === event) ?? null
