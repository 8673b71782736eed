import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { timeseriesQuery } from '../../api/analytics.ts'
import { percent } from '../../lib/words.ts'
import { seriesTokens } from '../../ui/series-color.ts'
import { calmBucket } from './columns.ts'
import { Legend } from './Legend.tsx'
import { ChartPanel } from './Panel.tsx'
import { basesInWords, type Part, type ShownField, shownFields } from './quality.ts'
import { useSite } from './site-scope.ts'
import { change, fieldName, figure, roughly } from './words.ts'

const HEIGHT = 160

const WORDS = {
  user_data: {
    title: 'User data',
    missing: 'No event reported user data in this period. It raises the match rate of Meta, Google and TikTok.',
  },
  ecommerce: {
    title: 'E-commerce data',
    missing: 'No event reported e-commerce data in this period. A shop reports it with its purchases.',
  },
}

/** The share of events with each field over time, among those that could have it, with the score's targets. */
export function QualityPanel({ part }: { part: Part }) {
  const { site, query, frame, report } = useSite()
  const answer = useQuery(
    timeseriesQuery(site.id, query, { metric: part, group_by: 'field', bucket: calmBucket(frame.to - frame.from) }),
  )
  const { data } = answer
  const fields = useMemo(() => shownFields(report, part), [report, part])
  const earlier = new Map(report.previous && shownFields(report.previous, part).map(({ field, rate }) => [field, rate]))
  const targets = useMemo(
    () =>
      new Map(
        fields.flatMap(({ field, target }) => (target === undefined ? [] : [[fieldName(field), target] as const])),
      ),
    [fields],
  )
  const series = useMemo(
    () =>
      data?.series.flatMap((each) => {
        const key = fieldName(each.key)
        const target = targets.get(key)
        return target === undefined ? [] : [{ ...each, key, target }]
      }),
    [data, targets],
  )
  const tokens = useMemo(() => seriesTokens([...targets.keys()]), [targets])
  const { title, missing } = WORDS[part]
  const total = report[part].total
  return (
    <ChartPanel
      title={title}
      unit={total > 0 ? `${basesInWords(report, part)}; dashed: target` : undefined}
      answer={answer}
      series={series}
      kind="lines"
      scale="share"
      height={HEIGHT}
      format={percent}
      label={labelOf(title, fields)}
      note={total === 0 ? missing : undefined}
      side={
        <Legend
          label={title}
          rows={fields.map(({ field, rate, target, base }) => ({
            key: field,
            name: fieldName(field),
            token: tokens.get(fieldName(field)),
            value: figure(rate, 'rate'),
            reference:
              baseWords(base) ??
              change(rate, earlier.get(field), 'rate') ??
              (target === undefined ? undefined : `target ${percent(target)}`),
          }))}
        />
      }
    />
  )
}

const labelOf = (title: string, fields: readonly ShownField[]): string =>
  `${title} over time: ${fields.map(({ field, rate }) => `${fieldName(field)} ${figure(rate, 'rate')}`).join(', ')}`

const baseWords = (base: number | undefined): string | undefined =>
  base === undefined ? undefined : `of ${roughly(base, 'event')}`
