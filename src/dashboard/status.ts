/** From what needs a person first to what needs nobody. */
export const STATUSES = ['critical', 'error', 'warning', 'ok', 'unknown'] as const
export type Status = (typeof STATUSES)[number]

/** The status of a whole from those of its parts: the worst that is known, `unknown` while nothing is. */
export function worstStatus(parts: readonly Status[]): Status {
  return STATUSES.find((status) => parts.includes(status)) ?? 'unknown'
}
