import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { timeseriesQuery, type WindowReport } from '../../api/analytics.ts'
import { compact, percent } from '../../lib/words.ts'
import { seriesTokens } from '../../ui/series-color.ts'
import { ChartPanel } from './ChartPanel.tsx'
import { calmBucket } from './columns.ts'
import { Legend } from './Legend.tsx'
import { useSite } from './site-scope.ts'
import { change, figure } from './words.ts'

const HEIGHT = 160

/** The series that are drawn, with their names for people and their rate in a report. */
const SHARES = [
  { key: 'ad_storage_granted', name: 'ads granted', rateIn: rateOf('ad_storage', 'granted') },
  { key: 'ad_storage_denied', name: 'ads denied', rateIn: rateOf('ad_storage', 'denied') },
  { key: 'analytics_storage_granted', name: 'analytics granted', rateIn: rateOf('analytics_storage', 'granted') },
  { key: 'ad_storage_absent', name: 'no signal', rateIn: rateOf('ad_storage', 'absent') },
  { key: 'never_updated', name: 'never updated', rateIn: ({ never_updated }: Consent) => never_updated.rate },
] as const

type Consent = WindowReport['consent']

function rateOf(purpose: 'ad_storage' | 'analytics_storage', said: 'granted' | 'denied' | 'absent') {
  return (consent: Consent): number | null => (consent.total === 0 ? null : consent[purpose][said] / consent.total)
}

/** What visitors said of consent over time; nothing on sites whose tag does not report it. */
export function ConsentPanel() {
  const { report } = useSite()
  return report.consent.total === 0 ? null : <Shares consent={report.consent} earlier={report.previous?.consent} />
}

function Shares({ consent, earlier }: { consent: Consent; earlier: Consent | undefined }) {
  const { site, query, frame } = useSite()
  const answer = useQuery(
    timeseriesQuery(site.id, query, {
      metric: 'consent',
      group_by: 'field',
      bucket: calmBucket(frame.to - frame.from),
      keys: SHARES.map(({ key }) => key),
    }),
  )
  const { data } = answer
  const tokens = useMemo(() => seriesTokens(SHARES.map(({ name }) => name)), [])
  const series = useMemo(
    () =>
      data &&
      SHARES.flatMap(({ key, name }) => {
        const found = data.series.find((each) => each.key === key)
        return found === undefined ? [] : [{ ...found, key: name }]
      }),
    [data],
  )
  const rows = SHARES.map(({ name, rateIn }) => ({
    key: name,
    name,
    token: tokens.get(name),
    value: figure(rateIn(consent), 'rate'),
    reference: change(rateIn(consent), earlier && rateIn(earlier), 'rate'),
  }))
  return (
    <ChartPanel
      title="Consent"
      unit={`of ${compact(consent.total)} events that report it`}
      answer={answer}
      series={series}
      kind="lines"
      scale="share"
      height={HEIGHT}
      format={percent}
      label={`Consent over time: ${rows.map(({ name, value }) => `${name} ${value}`).join(', ')}`}
      side={<Legend label="Consent" rows={rows} />}
    />
  )
}
