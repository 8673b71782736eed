import { Tooltip } from '@mantine/core'
import { type PointerEvent, useState } from 'react'
import type { VendorSite } from '../../api/tags.ts'
import { counted, percent, whole } from '../../lib/words.ts'
import classes from './tags.module.css'
import { hoursInWords, levelOf } from './words.ts'

interface Props {
  hours: VendorSite['hours']
  /** "Wed 25 Nov, 14:00" */
  timeOf: (index: number) => string
}

const STEP = 6
const BAR = 5
const HEIGHT = 20
/** Worse hours have higher bars, so that colour is not the only sign. Hours without executions are stubs. */
const HEIGHTS = [8, 12, 16, 20] as const
const STUB = 2

/** The failures of a vendor's tags on a site, hour by hour; the last hour is not over yet. */
export function HourStrip({ hours, timeOf }: Props) {
  const [pointed, setPointed] = useState<number | null>(null)
  const { runs, bad } = hours
  const point = (event: PointerEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    const index = Math.floor(((event.clientX - box.left) / box.width) * runs.length)
    setPointed(Math.min(runs.length - 1, Math.max(0, index)))
  }
  return (
    <Tooltip.Floating disabled={pointed === null} label={pointed === null ? '' : cellWords(hours, pointed, timeOf)}>
      <svg
        className={classes.strip}
        viewBox={`0 0 ${runs.length * STEP - (STEP - BAR)} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={hoursInWords(hours, timeOf)}
        onPointerMove={point}
        onPointerLeave={() => setPointed(null)}
      >
        {runs.map((count, index) => {
          const level = levelOf(count, bad[index] ?? 0)
          const height = level === null ? STUB : HEIGHTS[level]
          return (
            <rect
              key={timeOf(index)}
              className={classes.hour}
              data-level={level ?? 'none'}
              x={index * STEP}
              y={HEIGHT - height}
              width={BAR}
              height={height}
            />
          )
        })}
      </svg>
    </Tooltip.Floating>
  )
}

function cellWords({ runs, bad }: VendorSite['hours'], index: number, timeOf: (index: number) => string): string {
  const [ran, failed] = [runs[index] ?? 0, bad[index] ?? 0]
  const what =
    ran === 0
      ? 'nothing ran'
      : `${whole(failed)} of ${counted(ran, 'execution')} failed (${percent(Math.min(1, failed / ran))})`
  return `${timeOf(index)}: ${what}`
}
