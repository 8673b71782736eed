import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { timeseriesQuery } from '../../api/analytics.ts'
import { whole } from '../../lib/words.ts'
import { columnsOf } from './columns.ts'
import { Legend } from './Legend.tsx'
import { ChartPanel } from './Panel.tsx'
import { useSite } from './site-scope.ts'
import { change, figure, span } from './words.ts'

const HEIGHT = 188
const BARS = 100

export const OUTCOMES = ['success', 'failure', 'timeout', 'exception'] as const

/** Success is expected and stays grey. */
const TOKENS = {
  success: '--series-other',
  failure: '--critical',
  timeout: '--warning',
  exception: '--series-7',
}

type Outcomes = Readonly<Record<(typeof OUTCOMES)[number], number>>

interface Props {
  /** One tag, on all events or on one. */
  of: { tag_key: string; event_name?: string }
  /** The outcomes in the window, and in the one it is compared with. */
  now: Outcomes
  before: Outcomes | null | undefined
}

/** The outcomes of a tag's executions over time. */
export function OutcomesPanel({ of, now, before }: Props) {
  const { site, query } = useSite()
  const answer = useQuery(timeseriesQuery(site.id, query, { metric: 'executions', group_by: 'outcome', ...of }))
  const { data } = answer
  const columns = useMemo(() => {
    if (data === undefined) return undefined
    const { width, series } = columnsOf(data.series, data.bucket_seconds, BARS)
    const ordered = OUTCOMES.flatMap((outcome) => series.filter(({ key }) => key === outcome))
    return { width, series: ordered.map((each) => ({ ...each, token: TOKENS[each.key as keyof typeof TOKENS] })) }
  }, [data])
  const name = of.event_name === undefined ? of.tag_key : `${of.tag_key} on ${of.event_name}`
  return (
    <ChartPanel
      title="Outcomes"
      unit={columns === undefined ? undefined : `executions per ${span(columns.width)}`}
      answer={answer}
      series={columns?.series}
      kind="bars"
      height={HEIGHT}
      format={whole}
      label={`Executions of ${name} by outcome over time`}
      isFirst
      side={
        <Legend
          label="Executions by outcome"
          rows={OUTCOMES.map((outcome) => ({
            key: outcome,
            name: outcome,
            token: TOKENS[outcome],
            value: figure(now[outcome], 'count'),
            reference: before === undefined ? undefined : change(now[outcome], before?.[outcome] ?? 0, 'count'),
          }))}
        />
      }
    />
  )
}
