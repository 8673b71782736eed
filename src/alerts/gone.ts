import { readOutages } from '../cluster/index.ts'
import { DAY } from '../lib/index.ts'
import { WHOLE } from '../probes/index.ts'
import type { AlertRow, Tables, Transaction } from '../store/index.ts'
import type { Judgement } from './judgements.ts'

/** So long nothing of a tag, an event or a field has come when its alert ends. */
const GONE_AFTER_MS = DAY

/**
 * Whether an alert is about something that does not come any more: its tag was removed or renamed, or its event is not sent. The
 * alert of a site as a whole never ends so: that nothing comes is what it may be about.
 */
export async function isGone(
  trx: Transaction<Tables>,
  judgement: Judgement,
  alert: AlertRow,
  now: number,
): Promise<boolean> {
  if (!judgement.isUnseen || judgement.key === WHOLE) return false
  const since = lastSeenIn(alert)
  if (now - since < GONE_AFTER_MS) return false
  // During an outage of ours nothing could be seen.
  const deaf = (await readOutages(trx, since, now)).map(({ from, to }) => Math.min(to, now) - Math.max(from, since))
  return now - since - deaf.reduce((sum, length) => sum + length, 0) >= GONE_AFTER_MS
}

/** A probe that looks back further goes on finding bad what has stopped: where it says when the last of it came, that counts. */
function lastSeenIn({ details, last_seen_at }: AlertRow): number {
  const { findings } = JSON.parse(details) as { findings?: readonly { evidence?: { last_seen?: unknown } }[] }
  const newest = Array.isArray(findings) ? findings[0]?.evidence?.last_seen : undefined
  const at = typeof newest === 'string' ? Date.parse(newest) : Number.NaN
  return Number.isNaN(at) ? last_seen_at : at
}
