import { type Clock, SECOND } from '../lib/index.ts'

/** Nodes judge each other's heartbeats by their own clocks; this much is far from what would do harm. */
const ALLOWED_MS = 5 * SECOND

/**
 * An error that says by how much the clock of this machine differs from the database's, or undefined when it is right.
 * All nodes use the same database, so that clocks that agree with its clock agree with each other.
 *
 * @param databaseTime asks the database for its time, epoch ms
 */
export async function clockTrouble(clock: Clock, databaseTime: () => Promise<number>): Promise<Error | undefined> {
  const asked = clock.now()
  const theirs = await databaseTime()
  const answered = clock.now()
  // The database looked at its clock somewhere between question and answer.
  const ahead = asked - theirs
  const behind = theirs - answered
  const difference = Math.max(ahead, behind)
  if (difference <= ALLOWED_MS) return undefined
  const seconds = Math.round(difference / SECOND)
  return new Error(
    `the clock of this machine is ${seconds} s ${ahead > behind ? 'ahead of' : 'behind'} the database's: ` +
      'nodes whose clocks differ take each other for dead, so keep all of them synchronised (NTP)',
  )
}
