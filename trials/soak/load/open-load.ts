import { setTimeout as sleep } from 'node:timers/promises'
import { Arrivals } from '../../../bench/lib/arrivals.ts'
import { KEY_LENGTH } from '../../../bench/lib/request-template.ts'
import { Connection } from './connection.ts'
import { Collector, type LoadFigures } from './figures.ts'
import { Mix } from './recipes.ts'

export interface LoadTarget {
  port: number
  /** As `packKeys` lays them out. */
  keys: Uint8Array
}

export interface Pace {
  /** Requests a second that fall due, whatever the server does; null: each connection sends as soon as it is answered. */
  perSecond: number | null
  connections: number
}

/** Over the whole run. */
export interface LoadTotals {
  /** Events in requests that were answered 200, by site. */
  acceptedEvents: number[]
  /** Events in requests that were sent and not answered, which may be counted or not, by site. */
  doubtfulEvents: number[]
}

/**
 * Connections that are being opened at a time. Node takes only one each time it has gone through all connections that have
 * something: one that is opened before the others are taken waits for seconds, which would be charged to its first request.
 */
const CONNECT_AT_ONCE = 50
const CONNECT_MS = 120_000
/** How often is looked for requests that are due. */
const TICK_MS = 1
/** How long a request waits for a free connection, as a sender's own patience has an end. */
const PATIENCE_MS = 1_000
const DRAIN_MS = 10_000
const POLL_MS = 10
/** Refused before anything was done for it. */
const UNAVAILABLE = 503

/** Sends to all sites in turn at a pace that can change, and knows what was accepted. */
export class OpenLoad {
  readonly #mix: Mix
  readonly port: number
  readonly #totals: LoadTotals
  readonly #idle: Connection[] = []
  readonly #open = new Set<Connection>()
  /** When the requests that wait for a connection fell due, from `#next` on. */
  #due: number[] = []
  #next = 0
  #wanted = 0
  #inFlight = 0
  #connecting = 0
  /** Null: each connection sends as soon as it is answered; undefined: none does. */
  #arrivals: Arrivals | null | undefined
  #collector = new Collector()
  #timer: NodeJS.Timeout | undefined

  constructor({ port, keys }: LoadTarget) {
    this.port = port
    this.#mix = new Mix(keys)
    const zeros = new Array<number>(keys.length / KEY_LENGTH).fill(0)
    this.#totals = { acceptedEvents: zeros, doubtfulEvents: [...zeros] }
  }

  /** Goes on at another pace, once all its connections are there. Those that are not wanted any more close. */
  async pace({ perSecond, connections }: Pace): Promise<void> {
    this.#wanted = connections
    const deadline = performance.now() + CONNECT_MS
    while (this.#open.size < connections || this.#connecting > 0) {
      if (performance.now() > deadline)
        throw new Error(`${this.#connecting} of ${connections} connections did not open`)
      while (this.#connecting < CONNECT_AT_ONCE && this.#open.size < connections) this.#connect()
      await sleep(POLL_MS)
    }
    this.#arrivals = perSecond === null ? null : new Arrivals(performance.now(), perSecond)
    // What waited at the pace before is not this one's to send.
    this.#due = []
    this.#next = 0
    while (this.#open.size > connections) {
      const connection = this.#idle.pop()
      if (connection === undefined) break
      this.#drop(connection)
    }
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS)
  }

  /** What happened since the last taking. */
  take(): LoadFigures {
    const figures = this.#collector.figures()
    this.#collector = new Collector()
    return figures
  }

  /** Ends the load, waiting for the answers that are under way. */
  async end(): Promise<LoadTotals> {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#arrivals = undefined
    this.#due = []
    this.#next = 0
    const deadline = performance.now() + DRAIN_MS
    while (this.#inFlight > 0 && performance.now() < deadline) await sleep(POLL_MS)
    this.#wanted = 0
    for (const connection of this.#open) connection.close()
    while (this.#open.size > 0) await sleep(POLL_MS)
    return this.#totals
  }

  #tick(): void {
    const now = performance.now()
    for (const dueAt of this.#arrivals?.upTo(now) ?? []) {
      this.#due.push(dueAt)
      this.#collector.due += 1
    }
    this.#giveUp(now - PATIENCE_MS)
    this.#send(now)
  }

  #giveUp(before: number): void {
    while (this.#next < this.#due.length && (this.#due[this.#next] ?? before) < before) {
      this.#next += 1
      this.#collector.givenUp += 1
    }
    if (this.#next > 10_000) {
      this.#due = this.#due.slice(this.#next)
      this.#next = 0
    }
  }

  #send(at: number): void {
    if (this.#arrivals === null) {
      for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
        this.#collector.due += 1
        this.#sendOn(connection, at, at)
      }
      return
    }
    while (this.#next < this.#due.length) {
      const connection = this.#idle.pop()
      if (connection === undefined) return
      this.#sendOn(connection, this.#due[this.#next++] ?? at, at)
    }
  }

  #sendOn(connection: Connection, dueAt: number, at: number): void {
    const { bytes, site, events } = this.#mix.next(at)
    connection.dueAt = dueAt
    connection.sentAt = performance.now()
    connection.site = site
    connection.events = events
    this.#inFlight += 1
    this.#collector.sent += 1
    connection.send(bytes)
  }

  #connect(): void {
    this.#connecting += 1
    this.#open.add(new Connection(this))
  }

  #drop(connection: Connection): void {
    this.#open.delete(connection)
    connection.close()
  }

  /** Its first answer shows that the server has taken it. */
  onOpen(connection: Connection): void {
    const now = performance.now()
    this.#collector.due += 1
    this.#sendOn(connection, now, now)
  }

  onIdle(connection: Connection): void {
    if (!connection.isProved) {
      connection.isProved = true
      this.#connecting -= 1
    }
    if (this.#open.size > this.#wanted) {
      this.#drop(connection)
      return
    }
    this.#idle.push(connection)
    if (this.#timer !== undefined) this.#send(performance.now())
  }

  onAnswer({ dueAt, sentAt, site, events }: Connection, status: number): void {
    this.#inFlight -= 1
    this.#collector.answered(status, dueAt, sentAt, performance.now())
    if (status === 200) add(this.#totals.acceptedEvents, site, events)
    // One that failed may have reached the disk all the same.
    else if (status >= 500 && status !== UNAVAILABLE) add(this.#totals.doubtfulEvents, site, events)
  }

  onBroken({ site, events }: Connection): void {
    this.#inFlight -= 1
    this.#collector.unanswered += 1
    add(this.#totals.doubtfulEvents, site, events)
  }

  onClosed(connection: Connection, wasOpen: boolean): void {
    this.#open.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    if (!connection.isProved) this.#connecting -= 1
    if (!wasOpen) this.#collector.notConnected += 1
    if (this.#timer !== undefined && this.#open.size < this.#wanted) setTimeout(() => this.#connect(), POLL_MS)
  }
}

const add = (sums: number[], site: number, events: number): void => {
  sums[site] = (sums[site] ?? 0) + events
}
