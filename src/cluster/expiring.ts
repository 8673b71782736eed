import type { Leases } from './leases.ts'

/**
 * A loop's tick that deletes what is old, on one node at a time. While the clock is in doubt it does nothing, and lets another node,
 * whose clock may be right, do it.
 *
 * @param work is given the time to go by, epoch ms, and a question to ask between its steps: whether it may go on
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
