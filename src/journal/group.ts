import { Delta } from './delta.ts'
import type { IdempotencyClaim } from './idempotency.ts'
import { appendPayload, type EncodedEntry, type Payload } from './payload.ts'
import { addLog, appendDelta, type Log } from './row.ts'

/** What became of a submission; `refused`: too many were waiting. */
export type CommitOutcome = 'committed' | 'duplicate' | 'failed' | 'refused'

/** A checked payload that waits for its commit. */
export interface Submission {
  siteNo: number
  /** Large ones were read and encoded by another thread. */
  payload: Payload | EncodedEntry
  /** Set when the sender gave an `Idempotency-Key`. */
  idempotencyKey: string | undefined
  /** Of its body. */
  bytes: number
  settle: (outcome: CommitOutcome) => void
}

/**
 * Numbers and texts in a group after which the next group begins. All requests that wait while the database is slow would make
 * a journal row too long to write or read in time.
 */
const ITEMS_PER_GROUP = 64_000
/** Body from which a submission is heavy: eighty tags. */
const HEAVY_BODY = 4_096
/**
 * Bytes of heavy bodies in a group; further ones wait for the next, while light submissions still join. Writing 32 events of
 * 500 tags together delayed an event of five tags by over 100 ms, measured on one busy core.
 */
const HEAVY_BYTES_PER_GROUP = 262_144
/** Average numbers and texts per submission up to which the same names are expected to repeat. */
const ITEMS_WORTH_ADDING_UP = 500
/** Average requests per site in a group from which summing them before writing pays. */
const WORTH_ADDING_UP = 4

/** What some submissions count: entries of the journal row that are still to be written as text, and those that are text. */
export interface Contents {
  log: Log
  encoded: EncodedEntry[]
}

/** What goes into one journal row. */
export class Group {
  readonly submissions: Submission[] = []
  /** Of the submissions without a key. */
  readonly contents: Contents = { log: [], encoded: [] }
  /** The others, each with what it counts if its key is free. */
  readonly claims: IdempotencyClaim<{ submission: Submission; contents: Contents }>[] = []
  #items = 0
  #heavyBytes = 0

  add(submission: Submission, now: number): void {
    const { siteNo, payload, idempotencyKey, bytes } = submission
    this.submissions.push(submission)
    if (bytes > HEAVY_BODY) this.#heavyBytes += bytes
    let { contents } = this
    if (idempotencyKey !== undefined) {
      contents = { log: [], encoded: [] }
      this.claims.push({ siteNo, key: idempotencyKey, submission: { submission, contents } })
    }
    if (isEncoded(payload)) {
      contents.encoded.push(payload)
      this.#items += payload.items
      return
    }
    const before = contents.log.length
    appendPayload(contents.log, siteNo, payload, now)
    this.#items += contents.log.length - before
  }

  hasRoomFor({ bytes }: Submission): boolean {
    if (this.#items >= ITEMS_PER_GROUP) return false
    return bytes <= HEAVY_BODY || this.#heavyBytes < HEAVY_BYTES_PER_GROUP
  }
}

const isEncoded = (payload: Payload | EncodedEntry): payload is EncodedEntry => 'json' in payload

export const joined = (all: readonly Contents[]): Contents => ({
  log: ([] as Log).concat(...all.map(({ log }) => log)),
  encoded: all.flatMap(({ encoded }) => encoded),
})

/** The payload of the journal row. @param group the submissions that it is of, and perhaps some that come to nothing */
export function payloadOf(group: readonly Submission[], { log, encoded }: Contents): string {
  const plain = encoded.length === 0 ? group : group.filter(({ payload }) => !isEncoded(payload))
  const sites = new Set(plain.map(({ siteNo }) => siteNo))
  const isRepetitive =
    plain.length >= sites.size * WORTH_ADDING_UP && log.length <= plain.length * ITEMS_WORTH_ADDING_UP
  const json = JSON.stringify(isRepetitive ? addedUp(log) : log)
  if (encoded.length === 0) return json
  const entries = encoded.map((entry) => entry.json)
  return `[${(log.length === 0 ? entries : [json.slice(1, -1), ...entries]).join(',')}]`
}

/** The same counts in fewer entries. */
function addedUp(log: Log): Log {
  const delta = new Delta()
  addLog(delta, log)
  const sum: Log = []
  appendDelta(sum, delta)
  return sum
}
