import { Type } from 'typebox'
import type { BadExecutionsConfig } from '../../detection/index.ts'
import { number } from '../../lib/index.ts'
import { windowMinutes } from './timeline.ts'

/**
 * The settings of a probe that judges the share of a tag's bad executions.
 *
 * @param seldom completes "A tag that … less often", e.g. `ran`
 * @param bad names them, e.g. `bad executions`
 */
export const badExecutionsConfig = (defaults: BadExecutionsConfig, seldom: string, bad: string) =>
  Type.Object(
    {
      window_minutes: windowMinutes(defaults.window_minutes),
      min_executions: Type.Integer({
        minimum: 5,
        maximum: 100_000,
        default: defaults.min_executions,
        description: `A tag that ${seldom} less often in the window is judged over as much of the last 24 hours as it takes to reach this number`,
      }),
      warning_share: share(
        defaults.warning_share,
        `A share of ${bad} significantly above this is a warning (lower Wilson bound, 95 %)`,
      ),
      critical_share: share(
        defaults.critical_share,
        `A share of ${bad} significantly above this is critical (lower Wilson bound, 95 %)`,
      ),
    },
    { additionalProperties: false },
  )

const share = (byDefault: number, description: string) =>
  Type.Number({ minimum: 0.001, maximum: 1, default: byDefault, description })

export const checkShares = ({ warning_share, critical_share }: BadExecutionsConfig) =>
  critical_share < warning_share ? [{ path: '/critical_share', message: 'must not be below warning_share' }] : []

/**
 * Describes the tag with the most executions while there are too few to judge: `“GA4” ran 7 of 20 times …`. Null when nothing ran.
 *
 * @param columns the columns that count executions
 */
export function mostExecutions<Column extends string>(
  counts: ReadonlyMap<string, readonly Readonly<Record<Column, number>>[]>,
  columns: readonly Column[],
  ran: string,
  needed: number,
): string | null {
  const tags = Array.from(counts, ([tag_key, buckets]) => ({
    tag_key,
    executions: buckets.reduce((sum, bucket) => sum + columns.reduce((all, column) => all + bucket[column], 0), 0),
  }))
  const most = tags.toSorted((a, b) => b.executions - a.executions)[0]
  if (most === undefined || most.executions === 0) return null
  return `“${most.tag_key}” ${ran} ${number(most.executions)} of ${number(needed)} times in the last 24 hours, judging starts at ${number(needed)}`
}
