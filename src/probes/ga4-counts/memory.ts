import { DAY, fieldsOf } from '../../lib/index.ts'
import type { JsonObject } from '../probe-type.ts'
import type { Pause } from './quota.ts'

/** What a run leaves for the next one, for one property. */
export interface Memory {
  /** GA4's names of events that it has reported. */
  known: readonly string[]
  pause: (Pause & { isRefusal: boolean }) | null
}

const NOTHING: Memory = { known: [], pause: null }

/** The longest real pause is the rest of a day of 25 hours. A longer one comes from a clock that was ahead and must not last. */
const PAUSE_MAX_MS = DAY + DAY / 12

/** @param memory may come from another version, or from a run for another property */
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
