import type { CompiledQuery } from 'kysely'
import { asError, type Clock, monthOf } from '../lib/index.ts'
import { Delta } from '../rollups/index.ts'
import type { Store } from '../store/index.ts'
import { claimKeys, type IdempotencyClaim } from './idempotency.ts'
import { addPayload } from './normalise.ts'
import type { Payload } from './payload.ts'

/** How a request came out of the commit. */
export type Outcome = 'committed' | 'duplicate' | 'failed'

/** A checked payload that waits for its commit. */
export interface Submission {
  siteNo: number
  payload: Payload
  /** Set when the sender gave an `Idempotency-Key`. */
  idempotencyKey: string | undefined
  settle: (outcome: Outcome) => void
}

export interface CommitListener {
  /** The commit of journal row `seq` has ended: well, or with an error after which the row may be there or not. */
  onSettled: (seq: number, error?: Error) => void
}

/** Submissions that may wait at once; past it the store is not keeping up and new ones are refused. */
const MAX_WAITING = 20_000

/**
 * Makes submissions durable: while one commit is in flight the next group gathers, so that one fsync serves many.
 *
 * A group is one journal row. Nothing of it is told to anybody, and nothing counted, before its transaction is on disk.
 */
export class GroupCommit {
  readonly #store: Store
  readonly #clock: Clock
  readonly #nodeId: string
  readonly #listener: CommitListener
  /** Compiled once: it is the one statement of every commit. */
  readonly #insertRow: CompiledQuery
  #gathering: Submission[] = []
  #delta = new Delta()
  #seq = 0
  #committing: Promise<void> | undefined
  #isScheduled = false
  /** Commits that were made, and submissions they held: for `/metrics`. */
  readonly totals = { commits: 0, committed: 0, duplicates: 0, failed: 0 }

  constructor(store: Store, clock: Clock, nodeId: string, listener: CommitListener) {
    this.#store = store
    this.#clock = clock
    this.#nodeId = nodeId
    this.#listener = listener
    this.#insertRow = store.write
      .insertInto('journal')
      .values({ node_id: nodeId, seq: 0, written_at: 0, payload: '' })
      .compile()
  }

  get waiting(): number {
    return this.#gathering.length
  }

  submit(submission: Submission): void {
    if (this.#gathering.length >= MAX_WAITING) {
      submission.settle('failed')
      return
    }
    this.#gathering.push(submission)
    if (submission.idempotencyKey === undefined) {
      const now = this.#clock.now()
      addPayload(this.#delta, submission.siteNo, submission.payload, now, monthOf(now))
    }
    if (this.#committing === undefined) this.#scheduleCommit()
  }

  /** Resolves when everything submitted so far is settled. */
  async drain(): Promise<void> {
    while (this.#gathering.length > 0 || this.#committing !== undefined) {
      this.#startCommit()
      await this.#committing
    }
  }

  /** After this turn of the event loop: every request whose bytes have arrived goes into the same group. */
  #scheduleCommit(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#startCommit()
    })
  }

  #startCommit(): void {
    if (this.#committing !== undefined || this.#gathering.length === 0) return
    const group = this.#gathering
    const delta = this.#delta
    this.#gathering = []
    this.#delta = new Delta()
    this.#committing = this.#commit(group, delta).finally(() => {
      this.#committing = undefined
      this.#scheduleCommit()
    })
  }

  async #commit(group: readonly Submission[], delta: Delta): Promise<void> {
    const seq = ++this.#seq
    let outcomes: (submission: Submission) => Outcome
    try {
      outcomes = await this.#write(seq, group, delta)
    } catch (thrown) {
      this.totals.failed += group.length
      this.#listener.onSettled(seq, asError(thrown))
      for (const submission of group) submission.settle('failed')
      return
    }
    this.#listener.onSettled(seq)
    this.totals.commits++
    for (const submission of group) {
      const outcome = outcomes(submission)
      this.totals[outcome === 'duplicate' ? 'duplicates' : 'committed']++
      submission.settle(outcome)
    }
  }

  /** Writes the journal row; with idempotency keys in the group, also what of it is new. */
  async #write(seq: number, group: readonly Submission[], delta: Delta): Promise<(submission: Submission) => Outcome> {
    const now = this.#clock.now()
    const claims = claimsOf(group)
    if (claims.length === 0) {
      await this.#store.batch([{ kind: 'statement', query: this.#journalRow(seq, now, delta) }])
      return () => 'committed'
    }
    const fresh = await this.#store.write.transaction().execute(async (trx) => {
      const claimed = await claimKeys(trx, claims, now)
      for (const claim of claimed) addPayload(delta, claim.siteNo, claim.submission.payload, now, monthOf(now))
      await trx.executeQuery(this.#journalRow(seq, now, delta))
      return new Set(claimed.map((claim) => claim.submission))
    })
    return (submission) =>
      submission.idempotencyKey === undefined || fresh.has(submission) ? 'committed' : 'duplicate'
  }

  #journalRow(seq: number, now: number, delta: Delta): CompiledQuery {
    return { ...this.#insertRow, parameters: [this.#nodeId, seq, now, delta.encode()] }
  }
}

function claimsOf(group: readonly Submission[]): IdempotencyClaim<Submission>[] {
  const claims: IdempotencyClaim<Submission>[] = []
  for (const submission of group) {
    if (submission.idempotencyKey === undefined) continue
    claims.push({ siteNo: submission.siteNo, key: submission.idempotencyKey, submission })
  }
  return claims
}
