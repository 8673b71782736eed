import type { MatrixAnswer, TagReport } from '../../api/analytics.ts'
import type { HeatRow } from './HeatPanel.tsx'
import { shareOf } from './heat.ts'

export const badOf = ({ executions, success }: Pick<TagReport, 'executions' | 'success'>): number =>
  executions - success

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })

/** The rows of the heat map, the largest share of failures first. */
export function heatRows(tags: readonly TagReport[], before?: readonly TagReport[]): HeatRow[] {
  const earlier = new Map(before?.map((tag) => [tag.tag_key, tag]))
  return worstFirst(
    tags.map((tag) => {
      const was = earlier.get(tag.tag_key)
      return {
        name: tag.tag_key,
        executions: tag.executions,
        bad: badOf(tag),
        before: before === undefined ? undefined : was === undefined ? null : shareOf(badOf(was), was.executions),
      }
    }),
  )
}

/** The part of the matrix that is about one event, or about one tag. */
export function matrixRows(
  { cells }: Pick<MatrixAnswer, 'cells'>,
  of: { event_name: string } | { tag_key: string },
): HeatRow[] {
  const rows = cells.flatMap(({ event_name, tag_key, executions, bad }) => {
    if ('event_name' in of) return event_name === of.event_name ? [{ name: tag_key, executions, bad }] : []
    return tag_key === of.tag_key ? [{ name: event_name, executions, bad }] : []
  })
  return worstFirst(rows)
}

const worstFirst = (rows: readonly HeatRow[]): HeatRow[] =>
  rows.toSorted(
    (a, b) =>
      (shareOf(b.bad, b.executions) ?? 0) - (shareOf(a.bad, a.executions) ?? 0) || collator.compare(a.name, b.name),
  )
