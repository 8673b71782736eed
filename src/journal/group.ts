import { appendPayload, type EncodedEntry } from './append-payload.ts'
import { Delta } from './delta.ts'
import type { IdempotencyClaim } from './idempotency.ts'
import type { Payload } from './payload.ts'
import { addLog, appendDelta, type Log } from './row.ts'

/** Outcome of a submission; `refused`: too many were waiting. */
export type CommitOutcome = 'committed' | 'duplicate' | 'failed' | 'refused'

/** A checked payload; another thread has read and encoded the large ones. */
export type Submitted = Payload | EncodedEntry

/**
 * A request that waits for its commit. It does not hold the payload: an empty object takes two bytes in a body but 56 in memory,
 * and a payload may contain thousands.
 */
export interface Submission {
  siteNo: number
  /** Set when the sender gave an `Idempotency-Key`. */
  idempotencyKey: string | undefined
  /** Size of its body. */
  bytes: number
  settle: (outcome: CommitOutcome) => void
}

/**
 * Numbers and texts after which the next group begins. While the database is slow, one group of all waiting requests would make a
 * journal row too long to write or read in time.
 */
const ITEMS_PER_GROUP = 64_000
/** Body size from which a submission is heavy: some eighty tags. */
const HEAVY_BODY = 4_096
/**
 * Bytes of heavy bodies in a group. Further ones wait for the next, while light submissions still join: writing 32 events of 500
 * tags together delayed an event of five tags by over 100 ms, measured on one busy core.
 */
const HEAVY_BYTES_PER_GROUP = 262_144
/** Average numbers and texts per submission up to which names can be expected to repeat. */
const ITEMS_WORTH_ADDING_UP = 1_000
/** Requests per site in a group from which summing them before writing pays. */
const WORTH_ADDING_UP = 4

/**
 * Items after which a lane continues in another log. V8 keeps arrays of over 16,000 in pages of their own, and moves the whole
 * array each time it grows: appending a batch of 83 tags took 47 µs in such a log, and takes 9 µs up to this length.
 */
const ITEMS_PER_LOG = 8_000

/** What some submissions of one lane count, partly as logs still to be encoded and partly encoded. */
export interface Contents {
  lane: number
  logs: Log[]
  encoded: EncodedEntry[]
  /** One for each request in it. */
  siteNos: number[]
  /** The sites in `logs`, whose requests can be summed. */
  plain: Set<number>
}

const noContents = (lane: number): Contents => ({ lane, logs: [], encoded: [], siteNos: [], plain: new Set() })

/** The contents of one commit's journal rows, one row per lane. */
export class Group {
  readonly submissions: Submission[] = []
  /** Submissions without a key, by lane. */
  readonly lanes = new Map<number, Contents>()
  /** Submissions with a key, each with what it counts if its key is free. */
  readonly claims: IdempotencyClaim<{ submission: Submission; contents: Contents }>[] = []
  #items = 0
  #heavyBytes = 0

  /** @param lane the lane of the submission's site */
  add(submission: Submission, payload: Submitted, lane: number, now: number): void {
    const { siteNo, idempotencyKey, bytes } = submission
    this.submissions.push(submission)
    if (bytes > HEAVY_BODY) this.#heavyBytes += bytes
    let contents: Contents
    if (idempotencyKey === undefined) contents = contentsIn(this.lanes, lane)
    else {
      contents = noContents(lane)
      this.claims.push({ siteNo, key: idempotencyKey, submission: { submission, contents } })
    }
    contents.siteNos.push(siteNo)
    if (isEncoded(payload)) {
      contents.encoded.push(payload)
      this.#items += payload.items
      return
    }
    contents.plain.add(siteNo)
    const log = logIn(contents)
    const before = log.length
    appendPayload(log, siteNo, payload, now)
    this.#items += log.length - before
  }

  hasRoomFor({ bytes }: Submission): boolean {
    if (this.#items >= ITEMS_PER_GROUP) return false
    return bytes <= HEAVY_BODY || this.#heavyBytes < HEAVY_BYTES_PER_GROUP
  }
}

const isEncoded = (payload: Submitted): payload is EncodedEntry => 'json' in payload

function contentsIn(lanes: Map<number, Contents>, lane: number): Contents {
  const contents = lanes.get(lane) ?? noContents(lane)
  lanes.set(lane, contents)
  return contents
}

/** The log that takes the next entry. */
function logIn({ logs }: Contents): Log {
  const last = logs.at(-1)
  if (last !== undefined && last.length < ITEMS_PER_LOG) return last
  const next: Log = []
  logs.push(next)
  return next
}

/** Merges contents by lane. */
export function joined(all: Iterable<Contents>): Map<number, Contents> {
  const lanes = new Map<number, Contents>()
  for (const { lane, logs, encoded, siteNos, plain } of all) {
    const into = contentsIn(lanes, lane)
    into.logs.push(...logs)
    into.encoded.push(...encoded)
    into.siteNos.push(...siteNos)
    for (const siteNo of plain) into.plain.add(siteNo)
  }
  return lanes
}

/** Encodes the payload of a journal row. */
export function payloadOf({ logs, encoded, siteNos, plain }: Contents): string {
  const requests = siteNos.length - encoded.length
  const items = logs.reduce((sum, { length }) => sum + length, 0)
  const isRepetitive = requests >= plain.size * WORTH_ADDING_UP && items <= requests * ITEMS_WORTH_ADDING_UP
  const written = isRepetitive ? [addedUp(logs)] : logs
  const [only] = written
  if (only !== undefined && written.length === 1 && encoded.length === 0) return JSON.stringify(only)
  const entries = written.filter((log) => log.length > 0).map((log) => JSON.stringify(log).slice(1, -1))
  return `[${[...entries, ...encoded.map((entry) => entry.json)].join(',')}]`
}

/** Sums the logs, which leaves fewer entries. */
function addedUp(logs: readonly Log[]): Log {
  const delta = new Delta()
  for (const log of logs) addLog(delta, log)
  const sum: Log = []
  appendDelta(sum, delta)
  return sum
}
