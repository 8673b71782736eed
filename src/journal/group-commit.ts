import type { CompiledQuery } from 'kysely'
import type { Expiry } from '../cluster/index.ts'
import { asError, type Clock } from '../lib/index.ts'
import { type BatchOperation, type Store, StoreError } from '../store/index.ts'
import {
  type CommitOutcome,
  type Contents,
  Group,
  joined,
  payloadOf,
  type Submission,
  type Submitted,
} from './group.ts'
import { claimKeys } from './idempotency.ts'
import { type LaneRow, startOfLane } from './lanes.ts'

/** Learns of committed rows to fold, and whether commits succeed. */
export interface CommitListener {
  /** The lane that the site's rows go to. */
  laneOf: (siteNo: number) => number
  /** The commit of these rows has ended: successfully, or with an error after which they may or may not exist. */
  onSettled: (rows: readonly LaneRow[], error?: Error) => void
}

/** Submissions that may wait at once. With more the store is not keeping up, and further ones are refused. */
const MAX_WAITING = 20_000
/**
 * A group of this size is committed at once: with over a thousand busy connections the event loop keeps serving them before it
 * runs deferred work.
 */
const FULL_GROUP = 128
/** A commit of this size means that the service is busy. */
const BUSY_GROUP = 8
/** A busy service waits for this share of the last group's size … */
const ENOUGH_SHARE = 0.75
/** … but no longer than this. */
const LINGER_MS = 1
/**
 * Makes submissions durable. While one commit is in flight the next group gathers, so that one fsync serves many.
 *
 * A group is one journal row per lane. No request of it is answered, and nothing is counted, before its transaction is on disk.
 */
export class GroupCommit {
  readonly #store: Store
  readonly #clock: Clock
  readonly #nodeId: string
  readonly #listener: CommitListener
  readonly #expiry: Expiry
  readonly #inserts: JournalInserts
  /** In commit order. */
  #groups: Group[] = []
  #waiting = 0
  /** The number of the last row in each lane. */
  readonly #seqs = new Map<number, number>()
  #committing: Promise<void> | undefined
  #isScheduled = false
  #linger: NodeJS.Timeout | undefined
  /** Waiting submissions that end the linger. */
  #enough = 0
  #isUnavailable = false
  /** For `/metrics`: commits made, and submissions by outcome. */
  readonly totals = { commits: 0, committed: 0, duplicates: 0, failed: 0 }

  /** @param expiry decides which idempotency keys have expired; the clock does when left out */
  constructor(store: Store, clock: Clock, nodeId: string, listener: CommitListener, expiry?: Expiry) {
    this.#store = store
    this.#clock = clock
    this.#nodeId = nodeId
    this.#listener = listener
    this.#expiry = expiry ?? { expiryTime: () => clock.now() }
    this.#inserts = new JournalInserts(store)
  }

  get waiting(): number {
    return this.#waiting
  }

  submit(submission: Submission, payload: Submitted): void {
    if (this.#isUnavailable) {
      this.#fail([submission])
      return
    }
    if (this.#waiting >= MAX_WAITING) {
      submission.settle('refused')
      return
    }
    this.#waiting++
    this.#groupFor(submission).add(submission, payload, this.#listener.laneOf(submission.siteNo), this.#clock.now())
    if (this.#committing !== undefined) return
    if (this.#waiting >= FULL_GROUP) {
      this.#stopLinger()
      this.#startCommit()
    } else if (this.#linger === undefined) this.#scheduleCommit()
    else if (this.#waiting >= this.#enough) this.#endLinger()
  }

  /** The first group with room, so that a light submission does not wait for the heavy ones before it. */
  #groupFor(submission: Submission): Group {
    for (const group of this.#groups) if (group.hasRoomFor(submission)) return group
    const next = new Group()
    this.#groups.push(next)
    return next
  }

  /** The database is available again. The write check finds that out, as it holds up no requests while it tries. */
  resume(): void {
    this.#isUnavailable = false
  }

  /** Resolves when everything submitted so far is settled. */
  async drain(): Promise<void> {
    while (this.#waiting > 0 || this.#committing !== undefined) {
      this.#stopLinger()
      this.#startCommit()
      await this.#committing
    }
  }

  /** Commits after this turn of the event loop, so that every request whose bytes have arrived joins the same group. */
  #scheduleCommit(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#startCommit()
    })
  }

  /**
   * Schedules the next commit. A busy service lingers, up to a millisecond, until nearly as many submissions wait as last time: a
   * commit costs the same for one as for a hundred. With 64 connections that made a quarter fewer commits, and faster answers for
   * all.
   */
  #afterCommit(size: number): void {
    if (size < BUSY_GROUP) {
      this.#scheduleCommit()
      return
    }
    this.#enough = size * ENOUGH_SHARE
    if (this.#waiting >= FULL_GROUP) this.#startCommit()
    else if (this.#waiting >= this.#enough) this.#scheduleCommit()
    else this.#linger = setTimeout(() => this.#endLinger(), LINGER_MS)
  }

  #endLinger(): void {
    this.#stopLinger()
    this.#scheduleCommit()
  }

  #stopLinger(): void {
    clearTimeout(this.#linger)
    this.#linger = undefined
  }

  #startCommit(): void {
    if (this.#committing !== undefined) return
    const group = this.#groups.shift()
    if (group === undefined) return
    this.#waiting -= group.submissions.length
    this.#committing = this.#commit(group).finally(() => {
      this.#committing = undefined
      this.#afterCommit(group.submissions.length)
    })
  }

  async #commit(group: Group): Promise<void> {
    const rows = this.#takeNumbers(group)
    let outcomes: (submission: Submission) => CommitOutcome
    try {
      outcomes = await this.#write(group, rows)
    } catch (thrown) {
      this.#listener.onSettled([...rows.values()], asError(thrown))
      this.#fail(group.submissions)
      // Connecting to a host that does not answer takes seconds: fail further requests at once instead of queueing them.
      if (thrown instanceof StoreError && thrown.kind === 'unavailable') {
        this.#isUnavailable = true
        for (const { submissions } of this.#groups.splice(0)) this.#fail(submissions)
        this.#waiting = 0
      }
      return
    }
    this.#listener.onSettled([...rows.values()])
    this.totals.commits++
    for (const submission of group.submissions) {
      const outcome = outcomes(submission)
      this.totals[outcome === 'duplicate' ? 'duplicates' : 'committed']++
      submission.settle(outcome)
    }
  }

  /** Numbers a row in each lane that the group may write to. */
  #takeNumbers({ lanes, claims }: Group): Map<number, LaneRow> {
    const rows = new Map<number, LaneRow>()
    for (const lane of new Set([...lanes.keys(), ...claims.map(({ submission }) => submission.contents.lane)])) {
      const seq = (this.#seqs.get(lane) ?? startOfLane(lane)) + 1
      this.#seqs.set(lane, seq)
      rows.set(lane, { lane, seq, siteNos: [], characters: 0 })
    }
    return rows
  }

  #fail(group: readonly Submission[]): void {
    this.totals.failed += group.length
    for (const submission of group) submission.settle('failed')
  }

  /** Writes the journal rows; of submissions with idempotency keys only the new ones. Removes from `rows` those that were not written. */
  async #write(group: Group, rows: Map<number, LaneRow>): Promise<(submission: Submission) => CommitOutcome> {
    const { lanes, claims } = group
    const now = this.#clock.now()
    if (claims.length === 0) {
      await this.#store.batch([this.#insert(rows, now, lanes)], { isUrgent: true })
      return () => 'committed'
    }
    let written: ReadonlyMap<number, Contents> = new Map()
    const operationsFor = (fresh: readonly Group['claims'][number][]) => {
      // Built again for each try, so that nothing from a failed one stays in the next.
      written = joined([...lanes.values(), ...fresh.map((claim) => claim.submission.contents)])
      return written.size > 0 ? [this.#insert(rows, now, written)] : []
    }
    const free = await claimKeys(this.#store, claims, now, operationsFor, this.#expiry.expiryTime())
    for (const { lane, seq } of [...rows.values()].filter((row) => !written.has(row.lane))) {
      // All were duplicates. Reuse the number: a gap would end the run of rows that the next fold takes.
      rows.delete(lane)
      this.#seqs.set(lane, seq - 1)
    }
    const fresh = new Set(free.map((claim) => claim.submission.submission))
    return (submission) =>
      submission.idempotencyKey === undefined || fresh.has(submission) ? 'committed' : 'duplicate'
  }

  /** Also records in `rows` what each contains. */
  #insert(rows: ReadonlyMap<number, LaneRow>, now: number, lanes: ReadonlyMap<number, Contents>): BatchOperation {
    const inserts: JournalInsert[] = []
    for (const row of rows.values()) {
      const contents = lanes.get(row.lane)
      const payload = contents === undefined ? '' : payloadOf(contents)
      row.siteNos = contents?.siteNos ?? []
      row.characters = payload.length
      if (contents !== undefined) inserts.push({ seq: row.seq, payload })
    }
    return this.#inserts.rows(this.#nodeId, now, inserts)
  }
}

/** A row to write. */
interface JournalInsert {
  seq: number
  payload: string
}

/** Makes the statements that add rows to the journal. */
class JournalInserts {
  readonly #store: Pick<Store, 'write' | 'nowInSql'>
  /** Compiled once for each number of rows, because every commit runs one. */
  readonly #inserts = new Map<number, CompiledQuery>()

  constructor(store: Pick<Store, 'write' | 'nowInSql'>) {
    this.#store = store
  }

  /** @param now epoch ms; rows get the database's time instead where processes share the database */
  rows(nodeId: string, now: number, rows: readonly JournalInsert[]): BatchOperation {
    const time = this.#store.nowInSql === undefined ? [now] : []
    const parameters = rows.flatMap(({ seq, payload }) => [nodeId, seq, ...time, payload])
    return { kind: 'statement', query: { ...this.#insertOf(rows.length), parameters } }
  }

  #insertOf(count: number): CompiledQuery {
    const known = this.#inserts.get(count)
    if (known !== undefined) return known
    const { write, nowInSql } = this.#store
    const row = { node_id: '', seq: 0, written_at: nowInSql ?? 0, payload: '' }
    const insert = write
      .insertInto('journal')
      .values(Array.from({ length: count }, () => row))
      .compile()
    this.#inserts.set(count, insert)
    return insert
  }
}
