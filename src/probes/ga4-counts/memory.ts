import { DAY, fieldsOf } from '../../lib/index.ts'
import type { JsonObject } from '../probe-type.ts'
import type { Pause } from './quota.ts'

/** What a run leaves to the next, of one property. */
export interface Memory {
  /** GA4's names of events that it has shown. */
  known: readonly string[]
  pause: (Pause & { isRefusal: boolean }) | null
}

const NOTHING: Memory = { known: [], pause: null }

/** The longest pause is that for the rest of a day of 25 hours; a clock that was set back must not make one last. */
const PAUSE_MAX_MS = DAY + DAY / 12

/** @param memory another version may have written it, or a run for another property */
export function readMemory(memory: JsonObject, propertyId: string, now: number): Memory {
  if (memory.property_id !== propertyId) return NOTHING
  const { until, words, isRefusal } = fieldsOf(memory.pause)
  const isPaused = typeof until === 'number' && typeof words === 'string' && until > now && until <= now + PAUSE_MAX_MS
  return {
    known: Array.isArray(memory.known) ? memory.known.filter((name) => typeof name === 'string') : [],
    pause: isPaused ? { until, words, isRefusal: isRefusal === true } : null,
  }
}

export const writtenMemory = ({ known, pause }: Memory, propertyId: string): JsonObject => ({
  property_id: propertyId,
  known: [...known],
  pause: pause && { until: pause.until, words: pause.words, isRefusal: pause.isRefusal },
})
