import type { Leases } from './leases.ts'

/**
 * A loop's tick that does its work on one node at a time; on the others it ends at once, and well.
 *
 * @param work is given a question to ask between its steps: whether the lease is still this node's
 */
export const exclusively =
  (leases: Leases, name: string, work: (isOurs: () => boolean) => Promise<void>): (() => Promise<void>) =>
  async () => {
    if (await leases.claim(name)) await work(() => leases.holds(name))
  }
