import { type EncodedEntry, encodeEntry, eventsIn } from '../journal/index.ts'
import type { Canaries } from './canaries.ts'
import { knownFieldsOf } from './check.ts'
import { judgeBody, textOf } from './judge.ts'
import { SAMPLE_BYTES_MAX } from './samples.ts'

/** A large body, and what its journal entry needs besides. */
interface LargeBody {
  bytes: Uint8Array<ArrayBuffer>
  siteNo: number
  /** Time of acceptance, epoch ms. */
  now: number
}

interface CountedLarge {
  events: number
  entry: EncodedEntry
  /** The payload as JSON, unless it is too large to be a sample. */
  sample: string | null
}

/** What the main thread needs of a large body, as texts and numbers: receiving the payload would cost it as much as parsing it. */
export type JudgedLarge =
  | {
      ok: true
      /** Null when the body holds only canaries. */
      counted: CountedLarge | null
      canaries: Canaries | null
    }
  | { ok: false; path: string }

/** The tasks that run in the thread of `LargeBodies`. */
export const tasks = {
  judge({ bytes, siteNo, now }: LargeBody): JudgedLarge {
    const size = bytes.byteLength
    const text = textOf(Buffer.from(bytes.buffer, bytes.byteOffset, size))
    // Free it now: the garbage collector would only notice it after many.
    bytes.buffer.transfer(0)
    const judged = judgeBody(text)
    if (!judged.ok) return judged
    const { payload, canaries } = judged
    if (payload === null) return { ok: true, counted: null, canaries }
    const counted = {
      events: eventsIn(payload),
      entry: encodeEntry(siteNo, payload, now),
      sample: size > SAMPLE_BYTES_MAX ? null : JSON.stringify(knownFieldsOf(payload)),
    }
    return { ok: true, counted, canaries }
  },
}

export type BodyTasks = typeof tasks
