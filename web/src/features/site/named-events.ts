/** What a shop or a lead form lives on, in Google's own names, the most important first. */
const IMPORTANT = [
  'purchase',
  'refund',
  'begin_checkout',
  'add_to_cart',
  'generate_lead',
  'sign_up',
  'add_payment_info',
  'view_item',
]
/** Lines that are kept for them among those that are named. */
const KEPT = 4

/**
 * The events that a chart names: the largest, and among them always those that money hangs on, however rare they are.
 *
 * @param names the largest first
 * @returns at most `most` of them, in the same order
 */
export function namedEvents(names: readonly string[], most: number): string[] {
  const important = IMPORTANT.filter((name) => names.includes(name)).slice(0, KEPT)
  const others = names.filter((name) => !important.includes(name)).slice(0, most - important.length)
  const chosen = new Set([...important, ...others])
  return names.filter((name) => chosen.has(name))
}
