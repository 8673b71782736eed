import { withoutEnd } from '../lib/index.ts'
import type { Tables, Transaction } from '../store/index.ts'
import type { Judgement } from './judgements.ts'

/**
 * Since when that is bad for which an alert is about to open, epoch ms: as the result says, or else since the first bad result of
 * the streak. That is an earlier one after an alert was resolved by hand, and where it takes three errors.
 */
export async function startOf(trx: Transaction<Tables>, judgement: Judgement): Promise<number> {
  const { finished, startedAt, history, key } = judgement
  const { executed_at, probe_id } = finished.result
  if (startedAt !== null) return startedAt
  const back = resultsSince(history, key === 'check')
  if (back === 0) return executed_at
  const first = await trx
    .selectFrom('probe_results')
    .select('executed_at')
    .where('probe_id', '=', probe_id)
    .orderBy('id', 'desc')
    .offset(back)
    .limit(1)
    .executeTakeFirst()
  return Math.min(executed_at, first?.executed_at ?? executed_at)
}

/** How many results ago the streak began that the last one belongs to; 0: with it. */
function resultsSince(history: string, isCheck: boolean): number {
  const before = isCheck ? withoutEnd(history, 'e').length : history.lastIndexOf('o') + 1
  const since = history.slice(before)
  const first = isCheck ? 0 : since.search(/[wc]/)
  return Math.max(0, since.length - Math.max(0, first) - 1)
}
