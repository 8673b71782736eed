import { Type } from 'typebox'
import type { BadExecutionsConfig } from '../../detection/index.ts'
import { number } from '../../lib/index.ts'
import { windowMinutes } from './timeline.ts'

/**
 * The configuration of a probe that judges how many of a tag's executions are bad.
 *
 * @param seldom what a tag did too seldom in the window, as `ran`
 * @param bad as `bad executions`
 */
export const badExecutionsConfig = (defaults: BadExecutionsConfig, seldom: string, bad: string) =>
  Type.Object(
    {
      window_minutes: windowMinutes(defaults.window_minutes),
      min_executions: Type.Integer({
        minimum: 5,
        maximum: 100_000,
        default: defaults.min_executions,
        description: `A tag that ${seldom} less often in the window is judged over as much of the last 24 hours as it takes`,
      }),
      warning_share: share(
        defaults.warning_share,
        `Share of ${bad} that makes a warning when it is surely exceeded (lower Wilson bound, 95 %)`,
      ),
      critical_share: share(defaults.critical_share, 'Likewise, for a critical result'),
    },
    { additionalProperties: false },
  )

const share = (byDefault: number, description: string) =>
  Type.Number({ minimum: 0.001, maximum: 1, default: byDefault, description })

export const checkShares = ({ warning_share, critical_share }: BadExecutionsConfig) =>
  critical_share < warning_share ? [{ path: '/critical_share', message: 'must not be below warning_share' }] : []

/**
 * The tag with most executions, of which there are too few to judge: `“GA4” ran 7 of 20 times …`. Null when there is none.
 *
 * @param columns those that count its executions
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
