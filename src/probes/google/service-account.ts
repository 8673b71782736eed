import { setTimeout as delay } from 'node:timers/promises'
import { counted, DAY, FairQueue, HOUR, Mutex, SECOND, unlessAborted } from '../../lib/index.ts'
import type { GoogleCredentials, ProbeSettings } from '../probe-type.ts'
import { AccessTokens, type Caller } from './access-tokens.ts'
import { GoogleFailure, type JsonRecord, recordsOf, textOf } from './failure.ts'

/**
 * Quotas of one Google Cloud project: 10,000 requests a day and 0.25 a second. Google counts the latter over 100 s by its
 * documentation, and over a minute by its refusals ("Queries per minute", 15).
 */
const TAG_MANAGER_QUOTA: readonly QuotaWindow[] = [
  { limit: 15, windowMs: 60 * SECOND },
  { limit: 25, windowMs: 100 * SECOND },
  { limit: 10_000, windowMs: DAY },
]

/** A tenth is left for lists of containers and for runs by hand. */
const SHARED_A_DAY = 9_000

/** State of a service account, kept while the process runs and shared by all probes. */
export interface ServiceAccount {
  email: string
  tokens: AccessTokens
  tagManagerQueue: QuotaQueue
  tagManagerShares: DailyShares
  containers: ContainerDirectory
}

const accounts = new WeakMap<GoogleCredentials, ServiceAccount>()

/** @throws GoogleFailure `no_credentials` when none is configured */
export function serviceAccountOf({ googleCredentials }: ProbeSettings): ServiceAccount {
  if (googleCredentials === null) {
    throw new GoogleFailure(
      'no_credentials',
      'No Google service account is set up: set GOOGLE_CREDENTIALS_FILE to the path of its JSON key',
    )
  }
  let account = accounts.get(googleCredentials)
  if (account === undefined) {
    account = {
      email: googleCredentials.client_email,
      tokens: new AccessTokens(googleCredentials),
      tagManagerQueue: new QuotaQueue(TAG_MANAGER_QUOTA),
      tagManagerShares: new DailyShares(SHARED_A_DAY),
      containers: new ContainerDirectory(),
    }
    accounts.set(googleCredentials, account)
  }
  return account
}

/** The numbers that identify a container in the API. */
interface ContainerIds {
  accountId: string
  containerId: string
}

/** Requests a path such as `/accounts` from the API. */
type AskPath = (path: string) => Promise<JsonRecord>

/** Ids never change and each page of the list costs quota, so the list is read again only when a container is missing from it. */
const LIST_AGAIN_MS = HOUR

/**
 * The containers that a service account may read, by public id. With many accounts, listing takes longer than one run, so
 * each run continues where the last one stopped.
 */
class ContainerDirectory {
  readonly #mutex = new Mutex()
  #found = new Map<string, ContainerIds>()
  /** What is being listed again: until that is complete, what was found before is still there. */
  #listed = new Map<string, ContainerIds>()
  #toVisit: string[] = []
  #startedAt = Number.NEGATIVE_INFINITY

  /**
   * Returns undefined when the service account does not see the container.
   *
   * @throws GoogleFailure, or the reason that the caller's signal was aborted with
   */
  async find(publicId: string, ask: AskPath, { signal, now }: Caller): Promise<ContainerIds | undefined> {
    const known = this.#known(publicId)
    if (known !== undefined) return known
    return unlessAborted(
      signal,
      this.#mutex.run(() => this.#search(publicId, ask, signal, now)),
    )
  }

  /** Whether the container is still visible: lists again, unless that was done within the last hour. */
  async confirm(publicId: string, ask: AskPath, caller: Caller): Promise<boolean> {
    const isListing = this.#toVisit.length > 0
    if (isListing || Math.abs(caller.now - this.#startedAt) >= LIST_AGAIN_MS) this.#found.delete(publicId)
    return (await this.find(publicId, ask, caller)) !== undefined
  }

  #known(publicId: string): ContainerIds | undefined {
    return this.#found.get(publicId) ?? this.#listed.get(publicId)
  }

  async #search(publicId: string, ask: AskPath, signal: AbortSignal, now: number): Promise<ContainerIds | undefined> {
    for (;;) {
      const found = this.#known(publicId)
      if (found !== undefined) return found
      if (this.#toVisit.length === 0) {
        if (Math.abs(now - this.#startedAt) < LIST_AGAIN_MS) return undefined
        this.#startedAt = now
        this.#listed = new Map()
        this.#toVisit = ['/accounts']
      }
      signal.throwIfAborted()
      await this.#visitNext(ask)
      if (this.#toVisit.length === 0) this.#found = this.#listed
    }
  }

  async #visitNext(ask: AskPath): Promise<void> {
    const path = this.#toVisit[0]
    if (path === undefined) return
    const page = await ask(path).catch((thrown: unknown): JsonRecord => {
      // Since it was listed, the account was closed or our access removed.
      const isGone = thrown instanceof GoogleFailure && ['forbidden', 'not_found'].includes(thrown.reason)
      if (isGone && path.startsWith('/accounts/')) return {}
      // The token of a page that was listed by an earlier run may have expired.
      if (thrown instanceof GoogleFailure && thrown.reason === 'bad_request') this.#toVisit[0] = withoutPage(path)
      throw thrown
    })
    this.#toVisit.shift()
    for (const account of recordsOf(page.account)) {
      const id = textOf(account.accountId)
      if (id !== null) this.#toVisit.push(`/accounts/${encodeURIComponent(id)}/containers`)
    }
    for (const { publicId, accountId, containerId } of recordsOf(page.container)) {
      const ids = [textOf(publicId), textOf(accountId), textOf(containerId)]
      const [name, account, container] = ids
      if (name != null && account != null && container != null) {
        this.#listed.set(name, { accountId: account, containerId: container })
      }
    }
    const next = textOf(page.nextPageToken)
    if (next !== null) this.#toVisit.unshift(`${withoutPage(path)}?pageToken=${encodeURIComponent(next)}`)
  }
}

const withoutPage = (path: string): string => path.split('?')[0] ?? path

/** Divides the requests of a day evenly among all who need some. */
class DailyShares {
  readonly #requests: number
  /** When each needed one last, epoch ms. */
  readonly #needed = new Map<string, number>()

  constructor(requests: number) {
    this.#requests = requests
  }

  /** How many share the requests, and how far apart those of each have to be, ms. */
  need(name: string, now: number): { sharers: number; everyMs: number } {
    this.#needed.set(name, now)
    for (const [other, at] of this.#needed) if (Math.abs(now - at) > DAY) this.#needed.delete(other)
    return { sharers: this.#needed.size, everyMs: (this.#needed.size * DAY) / this.#requests }
  }
}

/** At most `limit` requests in any `windowMs`. */
interface QuotaWindow {
  limit: number
  windowMs: number
}

/** Counts requests against several windows at once. All times are ms of one clock of the caller's choice. */
export class Quota {
  readonly #windows: readonly QuotaWindow[]
  readonly #longestMs: number
  #taken: number[] = []
  #blockedUntil = Number.NEGATIVE_INFINITY

  constructor(windows: readonly QuotaWindow[]) {
    this.#windows = windows
    this.#longestMs = Math.max(...windows.map(({ windowMs }) => windowMs))
  }

  /** Time until the next request may be sent, ms; 0 when it may be sent now. */
  waitMs(now: number): number {
    const waits = this.#windows.map(({ limit, windowMs }) => {
      // The request that must leave the window before another one fits.
      const leaving = this.#taken.at(-limit)
      return leaving === undefined ? 0 : leaving + windowMs - now
    })
    return Math.max(0, this.#blockedUntil - now, ...waits)
  }

  take(now: number): void {
    const firstKept = this.#taken.findIndex((time) => time > now - this.#longestMs)
    this.#taken = [...(firstKept < 0 ? [] : this.#taken.slice(firstKept)), now]
  }

  /** Stops requests for a while: Google also counts those of other programs of the project. */
  block(now: number, ms: number): void {
    this.#blockedUntil = Math.max(this.#blockedUntil, now + ms)
  }
}

/** Queues all requests to one API of one project. The clients take turns, as one with many probes would delay all others. */
export class QuotaQueue {
  readonly #quota: Quota
  readonly #waiting = new FairQueue<() => void>()
  readonly #now: () => number
  #isBusy = false

  /** @param now ms of a monotonic clock */
  constructor(windows: readonly QuotaWindow[], now: () => number = () => performance.now()) {
    this.#quota = new Quota(windows)
    this.#now = now
  }

  /**
   * Waits until the client's request may be sent.
   *
   * @throws GoogleFailure `quota` when its turn does not come before `signal` is aborted; at once if that is certain
   */
  async turn(clientId: string, signal: AbortSignal, maxWaitMs: number): Promise<void> {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    this.#waiting.push(clientId, begin)
    this.#next()
    try {
      await unlessAborted(signal, begun)
      await this.#wait(signal, maxWaitMs)
    } catch (thrown) {
      throw thrown instanceof GoogleFailure ? thrown : this.#tooLong()
    } finally {
      // A request that leaves the queue early must not cost its client a turn.
      if (!this.#waiting.remove(clientId, begin)) {
        this.#isBusy = false
        this.#next()
      }
    }
  }

  block(ms: number): void {
    this.#quota.block(this.#now(), ms)
  }

  #next(): void {
    if (this.#isBusy) return
    const begin = this.#waiting.take()
    if (begin === undefined) return
    this.#isBusy = true
    begin()
  }

  async #wait(signal: AbortSignal, maxWaitMs: number): Promise<void> {
    const waitMs = this.#quota.waitMs(this.#now())
    if (waitMs > maxWaitMs) throw this.#tooLong()
    if (waitMs > 0) await delay(waitMs, undefined, { signal })
    this.#quota.take(this.#now())
  }

  #tooLong(): GoogleFailure {
    const seconds = Math.ceil(this.#quota.waitMs(this.#now()) / 1_000)
    const length = this.#waiting.size + Number(this.#isBusy)
    return new GoogleFailure(
      'quota',
      `The API's quota is used up: ${counted(length, 'request waits', 'requests wait')}, the next may be sent in ${seconds} s`,
    )
  }
}
