import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { timeseriesQuery, type WindowReport } from '../../api/analytics.ts'
import { percent } from '../../lib/words.ts'
import { seriesTokens } from '../../ui/series-color.ts'
import { calmBucket } from './columns.ts'
import { Legend } from './Legend.tsx'
import { ChartPanel } from './Panel.tsx'
import { useSite } from './site-scope.ts'
import { change, figure, roughly } from './words.ts'

const TITLE = 'Refused by vendors'
const HEIGHT = 160
const TAGS = 6

type Answers = WindowReport['responses']['tags'][number]

/** The share of executions with a known answer that the vendor did not accept. */
const refusedRate = (tag: Answers | undefined): number | null =>
  tag === undefined ? null : (tag.response_4xx + tag.response_5xx + tag.response_none) / tag.total

/** How vendors answer; renders nothing on sites whose tags do not report it. */
export function ResponsesPanel() {
  const { report } = useSite()
  return report.responses.total === 0 ? null : <Refusals total={report.responses.total} />
}

function Refusals({ total }: { total: number }) {
  const { site, query, frame, report } = useSite()
  const tags = report.responses.tags.slice(0, TAGS)
  const keys = useMemo(() => report.responses.tags.slice(0, TAGS).map(({ tag_key }) => tag_key), [report])
  const answer = useQuery(
    timeseriesQuery(site.id, query, {
      metric: 'responses',
      group_by: 'tag_key',
      bucket: calmBucket(frame.to - frame.from),
      keys,
    }),
  )
  const tokens = useMemo(() => seriesTokens(keys), [keys])
  const series = useMemo(
    () => answer.data?.series.map((each) => ({ ...each, token: tokens.get(each.key) ?? '--series-other' })),
    [answer.data, tokens],
  )
  const before = new Map(report.previous?.responses.tags.map((tag) => [tag.tag_key, tag]))
  const rows = tags.map((tag) => ({
    key: tag.tag_key,
    name: tag.tag_key,
    token: tokens.get(tag.tag_key),
    value: figure(refusedRate(tag), 'rate'),
    reference: report.previous && change(refusedRate(tag), refusedRate(before.get(tag.tag_key)), 'rate'),
  }))
  return (
    <ChartPanel
      title={TITLE}
      unit={`4xx, 5xx or no answer, of ${roughly(total, 'execution that reports it', 'executions that report it')}`}
      answer={answer}
      series={series}
      kind="lines"
      height={HEIGHT}
      format={percent}
      label={`${TITLE} over time: ${rows.map(({ name, value }) => `${name} ${value}`).join(', ')}`}
      side={<Legend label={TITLE} rows={rows} />}
    />
  )
}
