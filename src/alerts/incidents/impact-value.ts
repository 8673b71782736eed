import type { SiteRow } from '../../store/index.ts'
import { headlineOf, type Impact, type ImpactValue, isWide, lossInWords, plain, togetherOf } from './impact.ts'

const PURCHASE = 'purchase'

/**
 * What the purchases of an impact's headline were worth at the site's average order. Null where the headline is about something else: an
 * amount beside it would be read as its own. Executions are purchases only where they are of one tag; of two, one purchase may be both.
 *
 * @param tags whose executions were lost
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

/** Sums of several sites' impacts, with what they were worth. */
export function totalOf(impacts: readonly Impact[]): Impact | null {
  const together = togetherOf(impacts)
  return together === null ? null : { ...together, value: valueTogether(impacts) }
}

/** Null where one of them has no value, or another currency: a part would be taken for the whole. */
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

/** `≈ €21k, estimated`; with its ends where they lie far apart: `€14k to €29k, estimated`. */
export function valueInWords(value: ImpactValue): string {
  const { format } = new Intl.NumberFormat('en-GB', {
    style: 'currency',
    currency: value.currency,
    notation: 'compact',
    maximumSignificantDigits: 2,
  })
  return `${isWide(value) ? `${format(value.low)} to ${format(value.high)}` : `≈ ${format(value.lost)}`}, estimated`
}

/** What was lost and, where that is known, what it was worth: `267 of 425 purchases (63 %), ≈ €21k, estimated`. */
export function lossAndValue(impact: Impact): string | null {
  const loss = lossInWords(impact)
  return loss === null || impact.value == null ? loss : `${loss}, ${valueInWords(impact.value)}`
}
