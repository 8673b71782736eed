import type { Leases } from './leases.ts'

/**
 * A loop's tick that deletes by age, on one node at a time. While the clock is in doubt it does nothing, and leaves the work to
 * another node, whose clock may be right.
 *
 * @param work gets the time to judge age by, epoch ms, and a function to ask between its steps whether it may go on
 */
export const expiring =
  (leases: Leases, name: string, work: (now: number, mayGoOn: () => boolean) => Promise<void>): (() => Promise<void>) =>
  async () => {
    const now = leases.expiry.expiryTime()
    if (now === null) {
      if (leases.holds(name)) await leases.release(name)
    } else if (await leases.claim(name)) {
      await work(now, () => leases.holds(name) && leases.expiry.expiryTime() !== null)
    }
  }
