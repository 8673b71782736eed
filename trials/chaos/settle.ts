import { setTimeout as sleep } from 'node:timers/promises'

/** Each look opens the database, or asks its server. */
const POLL_MS = 100

interface SettleOptions {
  isSettled: () => Promise<boolean>
  /** Sends something new. */
  nudge: () => Promise<unknown>
  patienceMs?: number
  /** A fold needs something new to look again at rows that came late; after this long it is given something. */
  nudgeAfterMs?: number
}

/** Nudges ever less often: what each adds has to be folded too, which on a busy machine takes longer than the time between two. */
export async function untilSettled({
  isSettled,
  nudge,
  patienceMs = 90_000,
  nudgeAfterMs = 1_000,
}: SettleOptions): Promise<void> {
  const began = Date.now()
  let pause = nudgeAfterMs
  for (let nudgeAt = began + pause; !(await isSettled()); await sleep(Math.min(POLL_MS, nudgeAfterMs))) {
    if (Date.now() > began + patienceMs) throw new Error('the journal is not folded')
    if (Date.now() < nudgeAt) continue
    await nudge()
    pause *= 2
    nudgeAt = Date.now() + pause
  }
}
