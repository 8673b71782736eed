import { asError, Loop, MINUTE, SECOND } from '../../lib/index.ts'
import { type ChannelKey, keyOf } from '../channel.ts'
import { channelsWithWork, mayHaveWork } from './channel-snapshot.ts'
import { giveUpOverdue } from './give-up.ts'
import type { DeliveryTools } from './tools.ts'
import { workOn } from './work.ts'

const INTERVAL_MS = SECOND
/** Channels that are sent on at the same time: most of that time is waiting for others. */
const CHANNELS_MAX = 16
const GIVE_UP_INTERVAL_MS = MINUTE
/** Time that attempts under way get to end when the service stops, ms. */
const STOP_GRACE_MS = SECOND

export interface DeliveryOptions extends Omit<DeliveryTools, 'membership'> {
  membership: DeliveryTools['membership'] & { beat: () => Promise<void> }
  /** Called with the number of messages that were given up. */
  onGivenUp: (count: number) => void
}

/**
 * Sends this node's share of the outbox. The unit of work is the channel: one node at a time sends on it, in the order in which
 * the messages were written, so that each service gets an alert's story from its beginning. Different channels go side by side,
 * so a chat server that hangs holds up no other.
 *
 * A message is marked after it was sent: a crash in between repeats it, under the same idempotency key, and loses nothing.
 */
export class Delivery {
  readonly loop: Loop
  readonly #options: DeliveryOptions
  /** What is under way here, by channel. */
  readonly #active = new Map<ChannelKey, Promise<void>>()
  readonly #queue = new Set<ChannelKey>()
  readonly #stopping = new AbortController()
  #gaveUpAt = Number.NEGATIVE_INFINITY

  constructor(options: DeliveryOptions) {
    const { clock, onError } = options
    this.#options = options
    this.loop = new Loop({
      name: 'deliveries',
      clock,
      intervalMs: INTERVAL_MS,
      tick: () => this.#round(),
      onError,
    })
  }

  start(): void {
    this.loop.start()
  }

  /** Looks at once for what is to be sent: something was written. */
  wake(): void {
    if (!this.#stopping.signal.aborted) void this.loop.tick()
  }

  /** Sends all that can be sent now, for tests. */
  async run(): Promise<void> {
    await this.loop.tick()
    while (this.#active.size > 0) await Promise.all(this.#active.values())
  }

  /** Waits a moment for attempts under way, and cancels the rest: the next node to claim the channel makes them again. */
  async stop(graceMs = STOP_GRACE_MS): Promise<void> {
    await this.loop.stop()
    this.#queue.clear()
    const timer = setTimeout(() => this.#stopping.abort(), graceMs)
    await Promise.all(this.#active.values())
    clearTimeout(timer)
    this.#stopping.abort()
  }

  async #round(): Promise<void> {
    const { store, clock, membership, reach, onGivenUp } = this.#options
    const now = clock.now()
    if (now - this.#gaveUpAt >= GIVE_UP_INTERVAL_MS) {
      onGivenUp(await giveUpOverdue(store, now))
      this.#gaveUpAt = now
    }
    const channels = await channelsWithWork({ store, nodeId: membership.nodeId, now }, reach)
    const ready = channels.filter((snapshot) => mayHaveWork(snapshot, now)).map(({ channel }) => keyOf(channel.channel))
    if (ready.length === 0) return
    // Before another node can take the claims for those of a dead one.
    if (!membership.isSurelyAlive()) await membership.beat()
    if (!membership.isSurelyAlive()) throw new Error("this node's heartbeat does not get through")
    for (const key of ready) if (!this.#active.has(key)) this.#queue.add(key)
    this.#startNext()
  }

  #startNext(): void {
    for (const key of this.#queue) {
      if (this.#active.size >= CHANNELS_MAX) return
      this.#queue.delete(key)
      this.#active.set(key, this.#work(key))
    }
  }

  async #work(key: ChannelKey): Promise<void> {
    try {
      await workOn(this.#options, key, this.#stopping.signal)
    } catch (thrown) {
      this.#options.onError(asError(thrown), `channel ${key}`)
    } finally {
      this.#active.delete(key)
      this.#startNext()
    }
  }
}
