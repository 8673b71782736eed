import type { TestContext } from 'node:test'
import { type JoinOptions, Leases, Membership } from '../../src/cluster/index.ts'
import type { Clock } from '../../src/lib/index.ts'
import type { Store } from '../../src/store/index.ts'

export interface TestNode {
  membership: Membership
  leases: Leases
  /** What it reported, as `what: message`. */
  errors: string[]
}

/** A node in this process, whose heart beats when the test says so. */
export async function joinNode(
  t: TestContext,
  store: Store,
  clock: Clock,
  options: Partial<JoinOptions> = {},
): Promise<TestNode> {
  const errors: string[] = []
  const membership = await Membership.join({
    store,
    clock,
    role: 'all',
    version: '1.2.3',
    onError: (error, what) => errors.push(`${what}: ${error.message}`),
    ...options,
  })
  await Promise.all(membership.loops.map((loop) => loop.stop()))
  t.after(() => membership.leave())
  return { membership, leases: new Leases({ store, clock, membership }), errors }
}

/** The store as several processes would have it. The engine below is as real as ever, only its lock is not asked. */
export const asShared = (store: Store): Store => ({
  ...store,
  isShared: true,
  batch: (operations, options) => store.batch(operations, options),
  close: () => store.close(),
})
