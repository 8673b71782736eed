import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../../src/lib/index.ts'
import { madeOnce } from '../../../testkit/made-once.ts'

/**
 * When a run of these tests begins, whatever the time is: a Wednesday in Berlin, where no day, week or month ends for hours. What pages
 * say of times depends on the weekday and on how near midnight is.
 */
const BEGIN = Date.parse('2026-11-25T14:20:00+01:00')

/** How far that is from the machine's clock, ms. The same for all processes of a run: they copy one demo, which may not lie in their future. */
export const SHIFT_MS = BEGIN - (await beganAt())

/** The time of these tests, of their services and of their pages; it passes as time does. */
export const clock: Clock = { ...systemClock, now: () => systemClock.now() + SHIFT_MS }

async function beganAt(): Promise<number> {
  const folder = await madeOnce('began', (made) => writeFile(join(made, 'at'), String(systemClock.now())))
  return Number(await readFile(join(folder, 'at'), 'utf8'))
}
