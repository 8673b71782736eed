import { isDeepStrictEqual } from 'node:util'

/** Sentences that answers put together. How they are worded is no promise; what they quote and count is. */
const SENTENCE = /\/(?:warnings\/\d+\/message|evidence\/\d+)$/
const FACTS = /“[^”]*”|\d+(?:[.,:]\d+)*/g

/**
 * Where a later answer does not say what an earlier one did: fields that are gone or have another value, and lists of another length. New
 * fields are none. Sentences may be worded differently as long as they name the same things and figures, in any order.
 *
 * @param at where the two stand in the whole answers
 */
export function lost(before: unknown, after: unknown, at = ''): string[] {
  if (Array.isArray(before) && Array.isArray(after)) {
    if (before.length !== after.length) return [`${at} has ${after.length} entries, and had ${before.length}`]
    return before.flatMap((entry, n) => lost(entry, after[n], `${at}/${n}`))
  }
  if (isRecord(before) && isRecord(after)) {
    return Object.entries(before).flatMap(([name, value]) =>
      name in after ? lost(value, after[name], `${at}/${name}`) : [`${at}/${name} is gone`],
    )
  }
  return isDeepStrictEqual(before, after) || (SENTENCE.test(at) && isDeepStrictEqual(factsOf(before), factsOf(after)))
    ? []
    : [`${at} is ${JSON.stringify(after)}, and was ${JSON.stringify(before)}`]
}

const factsOf = (sentence: unknown): string[] => (String(sentence).match(FACTS) ?? []).toSorted()

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
