import { useMemo, useState } from 'react'
import { percent } from '../../lib/words.ts'
import { TimeChart } from '../../ui/chart/TimeChart.tsx'

const HOUR = 3_600_000
const FROM = Date.UTC(2026, 0, 5)
const HOURS = 24
const TO = FROM + HOURS * HOUR
const ALERTS = [{ from: FROM + 15 * HOUR, to: null, severity: 'critical' as const }]
const DEPLOYS = [{ at: FROM + 14.5 * HOUR, label: 'v42' }]

/** A day with a quiet night. */
const pointsOf = (scale: number) =>
  Array.from({ length: HOURS }, (_, n) => ({
    t: new Date(FROM + n * HOUR).toISOString(),
    value: n === 9 ? null : scale * (60 + 50 * Math.sin((n - 8) / 3.8)),
  }))

export function KitCharts({ zone, events }: { zone: string; events: readonly string[] }) {
  const [clicked, setClicked] = useState('nothing')
  const counts = useMemo(() => events.map((key, n) => ({ key, points: pointsOf(10 * (n + 1)) })), [events])
  const rates = useMemo(
    () => [
      { key: 'usually', points: pointsOf(0.0001), isReference: true },
      { key: 'Meta CAPI', points: pointsOf(0.003) },
    ],
    [],
  )
  const shared = { from: FROM, to: TO, zone, alerts: ALERTS, deploys: DEPLOYS, group: 'kit' }
  return (
    <div>
      <TimeChart
        {...shared}
        series={counts}
        kind="bars"
        label="Example: events by name"
        onClick={({ series }) => setClicked(series)}
      />
      <TimeChart {...shared} series={rates} kind="lines" format={percent} label="Example: failures" />
      <span data-testid="clicked">{clicked}</span>
    </div>
  )
}
