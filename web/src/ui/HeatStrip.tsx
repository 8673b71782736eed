import { Tooltip } from '@mantine/core'
import { type PointerEvent, useState } from 'react'
import type { ResultRecord } from '../api/probes.ts'
import { counted, exact, unbroken } from '../lib/words.ts'
import classes from './HeatStrip.module.css'
import { judgedStatus, STATUS_WORDS, STATUSES, unjudgedWords } from './status/status.ts'

interface Props {
  /** Newest first. */
  results: readonly ResultRecord[]
  zone: string | undefined
  size?: 'row' | 'page'
}

/** Maximum number of results drawn. */
const SHOWN = 50
const STEP = 4
const BAR = 3
const HEIGHT = 20
/**
 * Worse results have higher bars, so that colour is not the only sign. A check that could not run is hollow, one that judged nothing is
 * a stub.
 */
const HEIGHTS = { unknown: 5, ok: 11, warning: 16, error: 16, critical: 20 } as const

/** The latest results as bars, the newest on the right. Pointing at one shows its time and message. */
export function HeatStrip({ results, zone, size = 'row' }: Props) {
  const [pointed, setPointed] = useState<number | null>(null)
  const shown = results.slice(0, SHOWN).toReversed()
  const empty = SHOWN - shown.length
  const width = SHOWN * STEP - (STEP - BAR)
  const result = pointed === null ? undefined : shown[pointed - empty]
  const point = (event: PointerEvent<SVGSVGElement>) => {
    const box = event.currentTarget.getBoundingClientRect()
    setPointed(Math.floor(((event.clientX - box.left) / box.width) * SHOWN))
  }
  return (
    <Tooltip.Floating
      disabled={result === undefined}
      multiline
      maw={320}
      label={result === undefined ? '' : <Words result={result} zone={zone} />}
    >
      <svg
        className={classes.strip}
        data-size={size}
        viewBox={`0 0 ${width} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={labelOf(shown)}
        onPointerMove={point}
        onPointerLeave={() => setPointed(null)}
      >
        <path className={classes.none} d={stubs(empty)} />
        {shown.map((each, n) => (
          <rect
            key={each.id}
            className={classes.bar}
            data-status={judgedStatus(each)}
            data-pointed={pointed === empty + n || undefined}
            x={(empty + n) * STEP}
            y={HEIGHT - HEIGHTS[judgedStatus(each)]}
            width={BAR}
            height={HEIGHTS[judgedStatus(each)]}
          />
        ))}
      </svg>
    </Tooltip.Floating>
  )
}

function Words({ result, zone }: { result: ResultRecord; zone: string | undefined }) {
  return (
    <>
      <b>{unjudgedWords(result) ?? STATUS_WORDS[result.status]}</b> · {exact(Date.parse(result.executed_at), zone)}
      <br />
      {unbroken(result.message)}
    </>
  )
}

const stubs = (count: number): string =>
  Array.from({ length: count }, (_, n) => `M${n * STEP} ${HEIGHT}v-2h${BAR}v2z`).join('')

function labelOf(results: readonly ResultRecord[]): string {
  const last = results.at(-1)
  if (last === undefined) return 'No result yet'
  const counts = STATUSES.flatMap((status) => {
    const count = results.filter((result) => judgedStatus(result) === status).length
    return count === 0 ? [] : [`${count} ${STATUS_WORDS[status]}`]
  })
  return `Last ${counted(results.length, 'result')}: ${counts.join(', ')}; the latest is ${unjudgedWords(last) ?? STATUS_WORDS[last.status]}`
}
