import type { Leases } from './leases.ts'

/**
 * A loop's tick that does its work on one node at a time; on the others it succeeds at once without doing anything.
 *
 * @param work gets a function to ask between its steps whether this node still has the lease
 */
export const exclusively =
  (leases: Leases, name: string, work: (isOurs: () => boolean) => Promise<void>): (() => Promise<void>) =>
  async () => {
    if (await leases.claim(name)) await work(() => leases.holds(name))
  }
