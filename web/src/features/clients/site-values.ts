import type { SiteRecord, UpdateSite } from '../../api/sites.ts'
import { TRACKING_FIELDS, type TrackingField } from '../../lib/site-fields.ts'

/** The values of a site's form. */
export type SiteValues = {
  name: string
  url: string
  timezone: string
  /** A text while it is no whole number, such as "79.". */
  average_order_value: number | string
  currency: string
} & Record<TrackingField, string>

const FIELDS = Object.keys(TRACKING_FIELDS) as TrackingField[]

export const emptySite = (timezone: string): SiteValues => ({
  name: '',
  url: '',
  timezone,
  average_order_value: '',
  currency: '',
  ...tracking(() => ''),
})

export const siteValues = (site: SiteRecord): SiteValues => ({
  name: site.name,
  url: site.url,
  timezone: site.timezone,
  average_order_value: site.average_order_value ?? '',
  currency: site.currency ?? '',
  ...tracking((field) => String(site[field] ?? '')),
})

/** The values in the form of the API, with null for empty ones. */
export const siteBody = (values: SiteValues) =>
  ({
    name: values.name,
    url: values.url.trim(),
    timezone: values.timezone,
    average_order_value: numberOf(String(values.average_order_value)),
    currency: values.currency.trim() === '' ? null : values.currency.trim().toUpperCase(),
    ...tracking((field) => (values[field].trim() === '' ? null : values[field].trim())),
    slo_target: numberOf(values.slo_target),
  }) satisfies UpdateSite

/** The number in a text, also with a decimal comma: null when empty, NaN when it is not a number. */
export const numberOf = (text: string): number | null =>
  text.trim() === '' ? null : Number(text.trim().replace(',', '.'))

const tracking = <T>(textOf: (field: TrackingField) => T): Record<TrackingField, T> =>
  Object.fromEntries(FIELDS.map((field) => [field, textOf(field)])) as Record<TrackingField, T>

/** Current zone names that browsers accept but do not list: they list those of CLDR, which never change (Asia/Calcutta). */
const RENAMED = [
  'America/Argentina/Buenos_Aires',
  'America/Nuuk',
  'Asia/Ho_Chi_Minh',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Yangon',
  'Atlantic/Faroe',
  'Europe/Kyiv',
  'UTC',
]

/** The zones to choose from, including the current one. */
export const zonesWith = (now: string): string[] =>
  [...new Set([now, ...RENAMED, ...Intl.supportedValuesOf('timeZone')])].filter((zone) => zone !== '').sort()
