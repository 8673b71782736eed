import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo, useState } from 'react'
import { ownFieldsQuery, timeseriesQuery } from '../../api/analytics.ts'
import { percent } from '../../lib/words.ts'
import { SERIES_COLORS, seriesTokens } from '../../ui/series-color.ts'
import { calmBucket } from './columns.ts'
import { Legend } from './Legend.tsx'
import { ALL_EVENTS, choicesOf, type FieldShare, sharesOf } from './own-fields.ts'
import { ChartPanel } from './Panel.tsx'
import { useSite } from './site-scope.ts'
import { figure, roughly } from './words.ts'

const HEIGHT = 160
const TITLE = 'Custom parameters'

/** "1.2k “purchase” events that name them" */
function ofEvents(count: number, choice: string): string {
  const event = choice === ALL_EVENTS ? 'event' : `“${choice}” event`
  return roughly(count, `${event} that names them`, `${event}s that name them`)
}

/** How often the site's own parameters were present; renders nothing on sites without any. */
export function OwnFieldsPanel() {
  const { site, query } = useSite()
  const { data } = useQuery(ownFieldsQuery(site.id, query))
  const [picked, setPicked] = useState<string>()
  if (data === undefined || data.fields.length === 0) return null
  const choices = choicesOf(data.fields)
  const choice =
    picked !== undefined && choices.includes(picked)
      ? picked
      : (choices.find((name) => name !== ALL_EVENTS) ?? ALL_EVENTS)
  return (
    <Shares
      key={choice}
      choice={choice}
      shares={sharesOf(data.fields, choice, SERIES_COLORS)}
      tools={
        choices.length > 1 && (
          <NativeSelect
            aria-label="Event of custom parameters"
            size="xs"
            data={choices.map((value) => ({ value, label: value === ALL_EVENTS ? 'All events' : value }))}
            value={choice}
            onChange={(event) => setPicked(event.currentTarget.value)}
          />
        )
      }
    />
  )
}

function Shares({ choice, shares, tools }: { choice: string; shares: readonly FieldShare[]; tools: ReactNode }) {
  const { site, query, frame } = useSite()
  const keys = useMemo(() => shares.map(({ field }) => field), [shares])
  const answer = useQuery(
    timeseriesQuery(site.id, query, {
      metric: 'fields',
      group_by: 'field',
      bucket: calmBucket(frame.to - frame.from),
      keys,
      ...(choice !== ALL_EVENTS && { event_name: choice }),
    }),
  )
  const { data } = answer
  const tokens = useMemo(() => seriesTokens(keys), [keys])
  const series = useMemo(
    () => data?.series.map((each) => ({ ...each, token: tokens.get(each.key) ?? '--series-other' })),
    [data, tokens],
  )
  const most = Math.max(...shares.map(({ total }) => total))
  const rows = shares.map(({ field, rate }) => ({
    key: field,
    name: field,
    token: tokens.get(field),
    value: figure(rate, 'rate'),
  }))
  return (
    <ChartPanel
      title={TITLE}
      unit={`present in up to ${ofEvents(most, choice)}`}
      tools={tools}
      answer={answer}
      series={series}
      kind="lines"
      scale="share"
      height={HEIGHT}
      format={percent}
      label={`${TITLE} over time: ${rows.map(({ name, value }) => `${name} ${value}`).join(', ')}`}
      side={<Legend label={TITLE} rows={rows} />}
    />
  )
}
