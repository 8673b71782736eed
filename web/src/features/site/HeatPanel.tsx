import { UnstyledButton } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useCallback, useMemo } from 'react'
import { type Cut, timeseriesQuery } from '../../api/analytics.ts'
import { usePrinting } from '../../lib/use-print.ts'
import { counted, percent, whole } from '../../lib/words.ts'
import type { ChartClick } from '../../ui/chart/ChartCanvas.tsx'
import type { ChartColors } from '../../ui/chart/colors.ts'
import { Chart } from '../../ui/chart/TimeChart.tsx'
import { Awaited } from '../../ui/States.tsx'
import { columnsOf } from './columns.ts'
import classes from './HeatPanel.module.css'
import { type HeatRow, heatCells, keysOf, shareOf } from './heat.ts'
import { heatHeight, heatOption } from './heat-option.ts'
import type { Stretch } from './marks.ts'
import { Panel } from './Panel.tsx'
import { useSame, useSite } from './site-scope.ts'
import { change, span } from './words.ts'

interface Props {
  title: string
  /** What the rows are; executions are grouped by it. */
  group: 'tag_key' | 'event_name'
  /** The one tag or event that all rows are about. */
  of?: Pick<Cut, 'tag_key' | 'event_name'>
  rows: readonly HeatRow[]
  /** `picked` is the time of the clicked cell. */
  onPick: (name: string, picked?: Stretch) => void
  /** Below the list: a way to see more rows. */
  more?: ReactNode
}

const COLUMNS = 100
const ROW = { wide: { height: 28, above: 0 }, narrow: { height: 46, above: 26 } }
/** As in the CSS: up to this width there is no room for names beside the chart. */
const NARROW = '(max-width: 64em)'

/** A heat map of rows × time, with the share of failed executions as colour. The rows' names are buttons. */
export function HeatPanel({ title, group, of = NOTHING, rows, onPick, more }: Props) {
  const { site, query, frame } = useSite()
  const cut = { group_by: group, ...of, ...keysOf(rows.map(({ name }) => name)) }
  const ran = useQuery(timeseriesQuery(site.id, query, { metric: 'executions', ...cut }))
  const failed = useQuery(timeseriesQuery(site.id, query, { metric: 'failures', ...cut }))
  const isNarrow = useMediaQuery(NARROW, undefined, { getInitialValueInEffect: false }) ?? false
  const row = usePrinting() || !isNarrow ? ROW.wide : ROW.narrow
  const about = of.tag_key ?? of.event_name
  const names = useSame(rows.map(({ name }) => name))
  const heat = useMemo(() => {
    if (ran.data === undefined || failed.data === undefined) return undefined
    const executions = columnsOf(ran.data.series, ran.data.bucket_seconds, COLUMNS)
    const failures = columnsOf(failed.data.series, failed.data.bucket_seconds, COLUMNS)
    return { rows: names, cells: heatCells(names, executions.series, failures.series), width: executions.width }
  }, [ran.data, failed.data, names])
  const option = useCallback(
    (colors: ChartColors) =>
      heatOption(
        heat === undefined
          ? { rows: [], cells: [], width: 0, row, of: about, frame }
          : { ...heat, row, of: about, frame },
        colors,
      ),
    [heat, row, about, frame],
  )
  const onClick = useCallback(
    ({ index }: ChartClick) => {
      const cell = heat?.cells[index]
      const name = heat?.rows[cell?.row ?? -1]
      if (cell !== undefined && heat !== undefined && name !== undefined) {
        onPick(name, { from: cell.at, to: cell.at + heat.width })
      }
    },
    [heat, onPick],
  )
  const height = heatHeight(rows.length, row)
  return (
    <Panel
      title={title}
      unit={heat === undefined ? undefined : `share of failed executions, per ${span(heat.width)}`}
      tools={<Scale />}
      isStale={ran.isPlaceholderData || failed.isPlaceholderData}
      side={
        <>
          <ul className={classes.rows} aria-label={title}>
            {rows.map((each) => (
              <li key={each.name} style={{ height: row.height }}>
                <Row row={each} onPick={onPick} />
              </li>
            ))}
          </ul>
          {more}
        </>
      }
    >
      {heat === undefined ? (
        <Awaited
          error={ran.error ?? failed.error}
          onRetry={() => void Promise.all([ran.refetch(), failed.refetch()])}
          height={height}
        />
      ) : (
        <Chart
          option={option}
          height={height}
          label={labelOf(title, rows)}
          group={frame.group}
          onClick={onClick}
          selection={frame.selection}
        />
      )}
    </Panel>
  )
}

const NOTHING = {}

function Row({ row: { name, executions, bad, before }, onPick }: { row: HeatRow; onPick: (name: string) => void }) {
  const share = shareOf(bad, executions)
  return (
    <UnstyledButton
      className={classes.row}
      title={`${whole(bad)} of ${counted(executions, 'execution')} failed: look at ${name}`}
      onClick={() => onPick(name)}
    >
      <span className={classes.name}>{name}</span>
      {before !== undefined && <span className={classes.before}>{change(share, before, 'rate')}</span>}
      <b className={classes.share}>{share === null ? '–' : percent(share)}</b>
    </UnstyledButton>
  )
}

const STEPS = [
  { share: '0', level: 0 },
  { share: '0.1 %', level: 0.02 },
  { share: '1 %', level: 0.15 },
  { share: '10 %', level: 0.52 },
  { share: '100 %', level: 1 },
]

function Scale() {
  return (
    <div className={classes.scale} aria-hidden="true">
      {STEPS.map(({ share, level }) => (
        <span key={share}>
          <i style={{ background: `color-mix(in srgb, var(--critical) ${level * 100}%, var(--unknown-soft))` }} />
          {share}
        </span>
      ))}
      <span>
        <i className={classes.none} />
        did not run
      </span>
    </div>
  )
}

function labelOf(title: string, rows: readonly HeatRow[]): string {
  const worst = rows.toSorted((a, b) => (shareOf(b.bad, b.executions) ?? 0) - (shareOf(a.bad, a.executions) ?? 0))[0]
  const share = worst === undefined ? null : shareOf(worst.bad, worst.executions)
  if (worst === undefined || share === null) return `${title} over time`
  return `${title} over time: the most failures has ${worst.name}, ${percent(share)} of its executions`
}
