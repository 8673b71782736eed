import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { timeseriesQuery } from '../../api/analytics.ts'
import { whole } from '../../lib/words.ts'
import { ChartPanel } from './ChartPanel.tsx'
import { columnsOf } from './columns.ts'
import { Legend } from './Legend.tsx'
import { useSite } from './site-scope.ts'
import { change, figure, span } from './words.ts'

const HEIGHT = 188
const BARS = 100

export const OUTCOMES = ['success', 'failure', 'timeout', 'exception'] as const

/** Success is what one expects, and stays grey. */
const TOKENS = {
  success: '--series-other',
  failure: '--critical',
  timeout: '--warning',
  exception: '--series-7',
}

/** How the executions of one tag ended, over time. */
export function OutcomesPanel({ tag }: { tag: string }) {
  const { site, query, report } = useSite()
  const answer = useQuery(timeseriesQuery(site.id, query, { metric: 'executions', group_by: 'outcome', tag_key: tag }))
  const { data } = answer
  const columns = useMemo(() => {
    if (data === undefined) return undefined
    const { width, series } = columnsOf(data.series, data.bucket_seconds, BARS)
    const ordered = OUTCOMES.flatMap((outcome) => series.filter(({ key }) => key === outcome))
    return { width, series: ordered.map((each) => ({ ...each, token: TOKENS[each.key as keyof typeof TOKENS] })) }
  }, [data])
  const now = report.tags.find(({ tag_key }) => tag_key === tag)
  const before = report.previous?.tags.find(({ tag_key }) => tag_key === tag)
  return (
    <ChartPanel
      title="Outcomes"
      unit={columns === undefined ? undefined : `executions per ${span(columns.width)}`}
      answer={answer}
      series={columns?.series}
      kind="bars"
      height={HEIGHT}
      format={whole}
      label={`Executions of ${tag} by outcome over time`}
      isFirst
      side={
        <Legend
          label="Executions by outcome"
          rows={OUTCOMES.map((outcome) => ({
            key: outcome,
            name: outcome,
            token: TOKENS[outcome],
            value: figure(now?.[outcome] ?? 0, 'count'),
            reference: report.previous && change(now?.[outcome] ?? 0, before?.[outcome] ?? 0, 'count'),
          }))}
        />
      }
    />
  )
}
