import { Tooltip } from '@mantine/core'
import { type PointerEvent, useState } from 'react'
import classes from './UptimeBar.module.css'
import { type BarDay, barInWords, dayInWords } from './words.ts'

const STEP = 4
const BAR = 3
const HEIGHT = 20
/** Worse days have higher bars and unknown ones are stubs, so that colour is not the only sign. */
const HEIGHTS = { unknown: 4, maintenance: 8, ok: 12, warning: 16, critical: 20 } as const

/** The last days as bars, today on the right. Pointing at one shows its details. */
export function UptimeBar({ days, firstDay }: { days: readonly BarDay[]; firstDay: string | null }) {
  const [pointed, setPointed] = useState<number | null>(null)
  const day = pointed === null ? undefined : days[pointed]
  const point = (event: PointerEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    setPointed(Math.floor(((event.clientX - box.left) / box.width) * days.length))
  }
  return (
    <Tooltip.Floating
      disabled={day === undefined}
      multiline
      maw={320}
      label={day === undefined ? '' : dayInWords(day, firstDay)}
    >
      <svg
        className={classes.bar}
        viewBox={`0 0 ${Math.max(1, days.length * STEP - (STEP - BAR))} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={barInWords(days, firstDay)}
        onPointerMove={point}
        onPointerLeave={() => setPointed(null)}
      >
        {days.map((each, n) => (
          <rect
            key={each.day}
            data-status={each.status}
            data-pointed={pointed === n || undefined}
            x={n * STEP}
            y={HEIGHT - HEIGHTS[each.status]}
            width={BAR}
            height={HEIGHTS[each.status]}
          />
        ))}
      </svg>
    </Tooltip.Floating>
  )
}
