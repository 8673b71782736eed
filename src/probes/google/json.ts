/** Readers of JSON that others wrote: what is not as expected is absent. */

export type JsonRecord = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The objects of a list. */
export const recordsOf = (value: unknown): JsonRecord[] => (Array.isArray(value) ? value.filter(isRecord) : [])

export const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** Google writes whole numbers of 64 bits as text. */
export function wholeNumberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : null
  return typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : null
}
