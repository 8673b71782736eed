/** What a shop or a lead form lives on, in Google's own names, the most telling first. */
const TELLING = [
  'purchase',
  'refund',
  'begin_checkout',
  'add_to_cart',
  'generate_lead',
  'sign_up',
  'add_payment_info',
  'view_item',
]
/** Directory that are kept for them among those that are named. */
const KEPT = 4

/**
 * The events that a chart names: the largest, and among them always those that money hangs on, however rare they are.
 *
 * @param names the largest first
 * @returns at most `most` of them, in the same order
 */
export function namedEvents(names: readonly string[], most: number): string[] {
  const telling = TELLING.filter((name) => names.includes(name)).slice(0, KEPT)
  const others = names.filter((name) => !telling.includes(name)).slice(0, most - telling.length)
  const chosen = new Set([...telling, ...others])
  return names.filter((name) => chosen.has(name))
}
