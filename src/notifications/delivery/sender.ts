import { setTimeout as sleep } from 'node:timers/promises'
import type { Expiry } from '../../cluster/index.ts'
import { asError, Loop, MINUTE, SECOND } from '../../lib/index.ts'
import { isPassing } from '../../store/index.ts'
import { type ChannelKey, clientIdOf, keyOf, kindOf } from '../channel.ts'
import { giveUpOverdue } from '../given-up.ts'
import { type AlertMessage, isEndOfChannel } from '../message.ts'
import { isForIncidents, paceMsOf } from '../services/services.ts'
import { attempt, type DeliveryTools } from './attempt.ts'
import { cancelOffNotice, writeOffNotice } from './off-notice.ts'
import { withoutOverdue } from './overdue.ts'
import { channelsWithWork, countNotified, mayHaveWork, messagesOf, readSnapshot, receiptsBefore } from './reads.ts'
import { consequencesFor, isRestRow, restOf } from './rest.ts'
import { type Action, actionFor, type ChannelSnapshot, groupsOf, type QueuedMessage } from './schedule.ts'
import { cancel, claimChannel, releaseChannel, renew, writeGroups, writeOutcome, writingRest } from './writes.ts'

const INTERVAL_MS = SECOND
/** Channels that are worked on at the same time: most of that time they wait for others. */
const CHANNELS_MAX = 16
/** The same for e-mail: one server takes it for all clients, and must not block chats when it hangs. */
const EMAIL_CHANNELS_MAX = 8
const GIVE_UP_INTERVAL_MS = MINUTE
/** Time that probes get after the start to run again, before what they found before a downtime is sent. */
const LOOK_AGAIN_MS = 2 * MINUTE
/** Time that attempts under way get to finish when the service stops, ms. */
const STOP_GRACE_MS = SECOND

interface DeliveryOptions extends Omit<DeliveryTools, 'membership'> {
  membership: DeliveryTools['membership'] & { beat: () => Promise<void> }
  /** Tells which messages are too old to be tried any longer. */
  expiry: Expiry
  /** Called with the number of messages that were given up. */
  onGivenUp: (count: number) => void
}

/**
 * Sends this node's share of the outbox. The unit of work is the channel: one node at a time sends on it, in the order in which the
 * messages were written, so that each service gets an alert's story from its beginning. Different channels are worked on
 * concurrently, so that a hanging chat server holds up no other.
 *
 * A message is marked after it was sent: a crash in between repeats it, under the same idempotency key, and loses nothing.
 */
export class Delivery {
  readonly loop: Loop
  readonly #options: DeliveryOptions
  /** The channels that are being worked on. */
  readonly #active = new Map<ChannelKey, { work: Promise<void>; isEmail: boolean }>()
  /** Channels to work on next, with whether each is e-mail. */
  readonly #queue = new Map<ChannelKey, boolean>()
  readonly #stopping = new AbortController()
  #gaveUpAt = Number.NEGATIVE_INFINITY
  readonly #looksAgainUntil: number

  constructor(options: DeliveryOptions) {
    const { clock, onError } = options
    this.#options = options
    this.#looksAgainUntil = clock.now() + LOOK_AGAIN_MS
    this.loop = new Loop({
      name: 'deliveries',
      clock,
      intervalMs: INTERVAL_MS,
      tick: () => this.#round(),
      onError,
    })
  }

  /** Looks for messages at once, because some were written. */
  wake(): void {
    if (!this.#stopping.signal.aborted) void this.loop.tick()
  }

  /** Sends all that can be sent now, for tests. */
  async run(): Promise<void> {
    await this.loop.tick()
    while (this.#active.size > 0) await this.#ended()
  }

  /** Waits `graceMs` for attempts under way and cancels the rest: the next node to claim the channel repeats them. */
  async stop(graceMs = STOP_GRACE_MS): Promise<void> {
    await this.loop.stop()
    this.#queue.clear()
    const timer = setTimeout(() => this.#stopping.abort(), graceMs)
    await this.#ended()
    clearTimeout(timer)
    this.#stopping.abort()
  }

  async #ended(): Promise<void> {
    await Promise.all(Array.from(this.#active.values(), ({ work }) => work))
  }

  async #round(): Promise<void> {
    const { store, clock, expiry, membership, channelSettings, onGivenUp } = this.#options
    const now = clock.now()
    // `expiry` protects from a clock that is a day ahead, which would give up everything.
    const aged = expiry.expiryTime()
    if (aged !== null && Math.abs(now - this.#gaveUpAt) >= GIVE_UP_INTERVAL_MS) {
      onGivenUp(await giveUpOverdue(store, aged))
      this.#gaveUpAt = now
    }
    const channels = await channelsWithWork({ store, nodeId: membership.nodeId, now }, channelSettings)
    const ready = channels.filter((snapshot) => mayHaveWork(snapshot, now))
    if (ready.length === 0) return
    // Before another node can take this node for dead and its claims with it.
    if (!membership.isSurelyAlive()) await membership.beat()
    if (!membership.isSurelyAlive()) throw new Error("this node's heartbeat does not get through")
    for (const { channel, address } of ready) {
      const key = keyOf(channel.channel)
      if (!this.#active.has(key)) this.#queue.set(key, address !== null && kindOf(key, address) === 'email')
    }
    this.#startNext()
  }

  #startNext(): void {
    for (const [key, isEmail] of this.#queue) {
      if (this.#active.size >= CHANNELS_MAX) return
      const clientId = clientIdOf(key)
      const active = [...this.#active]
      const own = active.filter(([other]) => clientIdOf(other) === clientId).length
      // A client gets half of what others leave: if servers of a few answer late again and again, the rest must still find room.
      if (own > 0 && (own + 1) * 2 > CHANNELS_MAX - (active.length - own)) continue
      if (isEmail && active.filter(([, other]) => other.isEmail).length >= EMAIL_CHANNELS_MAX) continue
      this.#queue.delete(key)
      this.#active.set(key, { work: this.#work(key), isEmail })
    }
  }

  async #work(key: ChannelKey): Promise<void> {
    try {
      await workOn(this.#options, key, this.#looksAgainUntil, this.#stopping.signal)
    } catch (thrown) {
      this.#options.onError(asError(thrown), `channel ${key}`)
    } finally {
      this.#active.delete(key)
      this.#startNext()
    }
  }
}

/** A channel that pauses for at most this time stays claimed: it waits for its pace and not because it fails. */
const PAUSE_MAX_MS = 2 * SECOND

/**
 * Sends what is due on a channel, until nothing is or the channel has to wait. It reads before it claims, so that nothing is
 * written while messages are held back.
 *
 * @throws StoreError
 */
async function workOn(
  tools: DeliveryTools,
  key: ChannelKey,
  looksAgainUntil: number,
  stopping: AbortSignal,
): Promise<void> {
  const { store, clock, membership, channelSettings } = tools
  const { nodeId } = membership
  const read = async () => {
    const now = clock.now()
    const found = await readSnapshot(store, key, channelSettings, now)
    return found === undefined || now >= looksAgainUntil ? found : withoutOverdue(store, found, now)
  }
  const snapshot = await read()
  if (snapshot === undefined || ['rest', 'pause'].includes(actionFor(snapshot, clock.now()).kind)) return
  if (!(await claimChannel({ store, nodeId, now: clock.now() }, key))) return
  try {
    // A node that others may take for dead must send nothing more: they may be sending the same.
    while (!stopping.aborted && membership.isSurelyAlive()) {
      const now = await read()
      if (now === undefined || !(await act(tools, key, now, stopping))) return
    }
  } finally {
    await releaseChannel({ store, nodeId }, key)
  }
}

/** Does the next thing to do on a claimed channel; returns false when that is all for now. */
async function act(
  tools: DeliveryTools,
  key: ChannelKey,
  snapshot: ChannelSnapshot,
  stopping: AbortSignal,
): Promise<boolean> {
  const { store, clock, membership } = tools
  const action: Action = actionFor(snapshot, clock.now())
  switch (action.kind) {
    case 'cancel':
      await cancel(store, action)
      // Nothing is pending there any more, so it must not count as failing.
      if (snapshot.address === null) await renew(store, membership.nodeId, key, snapshot.channel.address)
      return true
    case 'renew':
      await renew(store, membership.nodeId, key, action.address)
      return true
    case 'settle':
      await settle(tools, key, snapshot.address, action)
      return true
    case 'send':
      return send(tools, key, snapshot, action.row, stopping)
    case 'pause':
      return pause(tools, action.until, stopping)
    case 'rest':
      return false
  }
}

async function settle(
  { store }: DeliveryTools,
  key: ChannelKey,
  address: string | null,
  { rows, isOne }: Extract<Action, { kind: 'settle' }>,
): Promise<void> {
  if (isOne) {
    await writeGroups(store, [rows])
    return
  }
  // A service that keeps incidents of its own gets a message about each.
  if (address !== null && isForIncidents(kindOf(key, address))) {
    await writeGroups(
      store,
      rows.map((row) => [row]),
    )
    return
  }
  // Only for two it matters what was sent before: one is always sent alone, and three are enough for an outage.
  const notified = rows.length === 2 ? await countNotified(store, key, rows) : 0
  await writeGroups(store, groupsOf(rows, notified))
}

async function send(
  tools: DeliveryTools,
  key: ChannelKey,
  { channel, address }: ChannelSnapshot,
  row: QueuedMessage,
  stopping: AbortSignal,
): Promise<boolean> {
  const { store, clock, membership, random, timings, channelSettings, onDelivered, onOutcome, onError } = tools
  if (address === null) return false
  const rows = await messagesOf(store, key, row)
  // Just given up, or no longer true.
  if (rows.length === 0 || (await cancelOffNotice(store, rows))) return true
  const kind = kindOf(key, address)
  const earlier = rows.length === 1 ? await receiptsBefore(store, key, row) : []
  const outcome = await attempt(tools, kind, address, rows, earlier, stopping)
  if (outcome === null) return false
  onOutcome(kind, outcome.kind)
  const now = clock.now()
  if (outcome.kind === 'channel_broken' && !rows.some(isRestRow)) {
    const { error } = outcome
    onError(new Error(`${error}: nothing is sent there until the address is edited`), `channel ${key}`)
    // Before the outcome, so that a crash in between repeats it.
    await writeOffNotice(store, channelSettings, { key, address, error, nodeId: membership.nodeId, now })
  }
  const backoffMs = (failures: number, retryAfterMs?: number) => timings.backoffMs(failures, retryAfterMs, random())
  const consequences = consequencesFor(outcome, { channel, rows, now, paceMs: paceMsOf(kind), backoffMs })
  const { delivered_at: at } = consequences.deliveries
  const delivered =
    typeof at === 'number'
      ? rows.flatMap(({ alert_id, kind: of, message }) =>
          // Where only the channel ends, the alert may last.
          alert_id === null || isEndOfChannel(JSON.parse(message) as AlertMessage)
            ? []
            : [{ alertId: alert_id, kind: of, channel: key, service: kind, at }],
        )
      : []
  // Made once, so that a repeated write writes the same ids.
  const rest = outcome.kind === 'delivered' ? restOf(rows, outcome, now + backoffMs(1), now) : []
  const alsoWritten = [...onDelivered(delivered), ...writingRest(store, rest)]
  const write = () => writeOutcome({ store, nodeId: membership.nodeId }, key, rows, consequences, alsoWritten)
  await untilStored(tools, write, `writing that ${row.id} was sent`, stopping)
  return consequences.goesOn
}

/**
 * Writes the outcome of an attempt, which cannot be undone. It retries while the store is unavailable: otherwise a message that was
 * sent would be sent again.
 */
async function untilStored(
  { timings, onError }: DeliveryTools,
  write: () => Promise<void>,
  what: string,
  stopping: AbortSignal,
): Promise<void> {
  for (;;) {
    try {
      await write()
      return
    } catch (thrown) {
      if (!isPassing(thrown) || stopping.aborted) throw thrown
      onError(asError(thrown), what)
      await rest(timings.storeRetryMs, stopping)
    }
  }
}

/** Waits for the channel's pace; returns false when that takes too long or the clock stands still. */
async function pause({ clock }: DeliveryTools, until: number, stopping: AbortSignal): Promise<boolean> {
  const ms = until - clock.now()
  if (ms > PAUSE_MAX_MS) return false
  await rest(ms, stopping)
  return clock.now() >= until
}

/** Sleeps until the time is over or the service stops. */
const rest = (ms: number, stopping: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal: stopping }).catch(() => undefined)
