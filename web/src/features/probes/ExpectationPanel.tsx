import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment, useCallback, useId, useMemo } from 'react'
import { timeseriesQuery } from '../../api/analytics.ts'
import { type ExpectationRecord, expectationQuery, type ProbeRecord, type ResultRecord } from '../../api/probes.ts'
import { useNow } from '../../lib/external.ts'
import { useUrlState } from '../../lib/use-url-state.ts'
import { ownZone } from '../../lib/zone.ts'
import type { ChartColors } from '../../ui/chart/colors.ts'
import { withHourlyBand } from '../../ui/chart/hourly-band.ts'
import type { TimeSeries } from '../../ui/chart/points.ts'
import { Chart } from '../../ui/chart/TimeChart.tsx'
import { timeOption } from '../../ui/chart/time-option.ts'
import { clearButton } from '../../ui/clear-button.ts'
import { Awaited } from '../../ui/States.tsx'
import { findingsIn } from '../alerts/chart-plan.ts'
import { clockTime } from '../alerts/words.ts'
import classes from './expectation.module.css'
import { few, needWords, passingHours, reasonWords, spreadWords, usualSeries, wideningWords } from './expectation.ts'

const HEIGHT = 240
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const ALL_EVENTS = 'all events'

interface Props {
  probe: ProbeRecord
  zone: string | undefined
  /** The newest result of the probe. */
  newest: ResultRecord | undefined
}

/** What a probe that judges counts expects of each hour, what arrived, and why it judged as it did. */
export function ExpectationPanel({ probe, zone, newest }: Props) {
  const id = useId()
  const [event, setEvent] = useUrlState('event', '')
  const { data, error, refetch } = useQuery(expectationQuery(probe.id, event === '' ? {} : { event_name: event }))
  const now = useNow()
  const clock = (time: number) => clockTime(time, zone, now)
  const finding = findingsIn(newest?.details ?? {}).find(({ subject }) => (subject.event_name ?? '') === event)
  const reason = finding === undefined ? null : reasonWords(finding.evidence, finding.status)
  return (
    <section className={classes.panel} aria-labelledby={id}>
      <header className={classes.head}>
        <h2 id={id}>Events by hour</h2>
        <span className={classes.note}>green: what passes · dashed: what is usual</span>
        {data !== undefined && data.events.length > 1 && (
          <Select
            className={classes.event}
            aria-label="Event"
            placeholder="All events"
            data={data.events}
            value={event === '' ? null : event}
            onChange={(chosen) => setEvent(chosen ?? '')}
            searchable
            clearable
            clearButtonProps={clearButton('All events')}
            nothingFoundMessage="No such event"
          />
        )}
      </header>
      {data === undefined ? (
        <Awaited error={error} onRetry={() => void refetch()} height={HEIGHT} />
      ) : (
        <>
          <HoursChart probe={probe} answer={data} zone={zone} />
          <div className={classes.words}>
            {reason !== null && <p>{reason}</p>}
            <p>{needWords(data, now, clock)}</p>
            <p className={classes.note}>{spreadWords(data)}</p>
            <Widening answer={data} clock={clock} />
          </div>
        </>
      )}
    </section>
  )
}

function Widening({ answer, clock }: { answer: ExpectationRecord; clock: (time: number) => string }) {
  const words = wideningWords(answer.widening)
  if (words === null) return null
  return (
    <p>
      {words}{' '}
      {answer.widened_by.map(({ alert_id: alertId, at }, index) => (
        <Fragment key={alertId}>
          {index > 0 && ', '}
          <Link to="/alerts/$alertId" params={{ alertId }}>
            {clock(Date.parse(at))}
          </Link>
        </Fragment>
      ))}
      .
    </p>
  )
}

interface HoursProps {
  probe: ProbeRecord
  answer: ExpectationRecord
  zone: string | undefined
}

/** The last day and the next. */
function HoursChart({ probe, answer, zone = ownZone() }: HoursProps) {
  const { event_name, hours } = answer
  const from = Date.parse(hours[0]?.t ?? '')
  const to = Date.parse(hours.at(-1)?.t ?? '') + HOUR
  // The window follows the expectation's hours, so this refetches with each of its answers.
  const { data, error, refetch } = useQuery(
    timeseriesQuery(
      probe.site_id,
      { from: new Date(from).toISOString() },
      { metric: 'events', bucket: '1h', ...(event_name !== null && { event_name }) },
    ),
  )
  const now = Math.floor(useNow() / MINUTE) * MINUTE
  const series = useMemo((): TimeSeries[] => {
    const name = event_name ?? ALL_EVENTS
    const came = data?.series.map(({ points }) => ({ key: name, points, token: '--series-1', knownUntil: now })) ?? []
    return [...came, usualSeries(hours)]
  }, [data, hours, event_name, now])
  const option = useCallback(
    (colors: ChartColors) => {
      const deploys = [{ at: now, label: 'now' }]
      const chart = timeOption({ series, kind: 'bars', from, to, zone, format: few, deploys }, colors)
      return withHourlyBand(chart, passingHours(answer), colors)
    },
    [series, from, to, zone, now, answer],
  )
  if (data === undefined) return <Awaited error={error} onRetry={() => void refetch()} height={HEIGHT} />
  const what = event_name === null ? 'Events' : `${event_name} events`
  return (
    <Chart
      option={option}
      height={HEIGHT}
      label={`${what} by hour, of the last day, and what is expected up to a day ahead`}
    />
  )
}
