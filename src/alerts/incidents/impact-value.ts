import type { SiteRow } from '../../store/index.ts'
import { headlineOf, type Impact, type ImpactValue, isWide, lossInWords, plain, togetherOf } from './impact.ts'

const PURCHASE = 'purchase'

/**
 * Returns what the purchases in an impact's headline were worth at the site's average order. Null when the headline is about
 * something else, because the amount beside it would be read as its own. Tag executions count as purchases only for a single tag:
 * with two, both may belong to one purchase.
 *
 * @param tags number of tags whose executions were lost
 */
export function purchaseValue(
  impact: Impact,
  tags: number,
  { average_order_value, currency }: Pick<SiteRow, 'average_order_value' | 'currency'>,
): ImpactValue | null {
  const headline = headlineOf(impact)
  if (average_order_value === null || currency === null || headline === null) return null
  if (plain(headline.event ?? '') !== PURCHASE || (headline.isOfTags && tags !== 1)) return null
  const { lost, low, high } = headline.loss
  const worth = (count: number) => Math.round(100 * count * average_order_value) / 100
  return { currency, lost: worth(lost), low: worth(low), high: worth(high), average_order_value }
}

/** Returns the sum of several sites' impacts and of their values; null without any. */
export function totalOf(impacts: readonly Impact[]): Impact | null {
  const together = togetherOf(impacts)
  return together === null ? null : { ...together, value: valueTogether(impacts) }
}

/** Returns the summed value; null when one has none or another currency, because a part would be taken for the whole. */
function valueTogether(impacts: readonly Impact[]): ImpactValue | null {
  const losing = impacts.filter((impact) => headlineOf(impact) !== null)
  const values = losing.flatMap(({ value }) => value ?? [])
  const [first] = values
  if (first === undefined || values.length < losing.length) return null
  if (values.some(({ currency }) => currency !== first.currency)) return null
  const sum = (of: (value: ImpactValue) => number) => values.reduce((all, value) => all + of(value), 0)
  return {
    currency: first.currency,
    lost: sum(({ lost }) => lost),
    low: sum(({ low }) => low),
    high: sum(({ high }) => high),
    average_order_value: null,
  }
}

/** Returns `≈ €21k, estimated`, or the bounds when they are far apart: `€14k to €29k, estimated`. */
export function valueInWords(value: ImpactValue): string {
  const { format } = new Intl.NumberFormat('en-GB', {
    style: 'currency',
    currency: value.currency,
    notation: 'compact',
    maximumSignificantDigits: 2,
  })
  return `${isWide(value) ? `${format(value.low)} to ${format(value.high)}` : `≈ ${format(value.lost)}`}, estimated`
}

/** Returns what was lost and, where known, its value: `267 of 425 purchases (63 %), ≈ €21k, estimated`. */
export function lossAndValue(impact: Impact): string | null {
  const loss = lossInWords(impact)
  return loss === null || impact.value == null ? loss : `${loss}, ${valueInWords(impact.value)}`
}
