import { isList, isObject } from '../parse/index.ts'
import type { Finding, Plain, Template } from '../types.ts'

/** Values that the gallery knows (R: a public gallery validator). */
const CATEGORIES = [
  'ADVERTISING',
  'AFFILIATE_MARKETING',
  'ANALYTICS',
  'ATTRIBUTION',
  'CHAT',
  'CONVERSIONS',
  'DATA_WAREHOUSING',
  'EMAIL_MARKETING',
  'EXPERIMENTATION',
  'HEAT_MAP',
  'LEAD_GENERATION',
  'MARKETING',
  'PERSONALIZATION',
  'REMARKETING',
  'SALES',
  'SESSION_RECORDING',
  'SOCIAL',
  'SURVEY',
  'TAG_MANAGEMENT',
  'UTILITY',
]

/** ___INFO___ and the terms, as the gallery wants them. */
export function lintInfo({ info, terms }: Template): Finding[] {
  const { value, line } = info
  const messages = [
    ...(value.type === 'TAG' ? [] : ['type must be "TAG".']),
    ...(value.id === 'cvt_temp_public_id' ? [] : ['id must be "cvt_temp_public_id", as in every template file.']),
    ...(value.version === 1 ? [] : ['version must be 1, as in every template file.']),
    ...(isText(value.displayName) ? [] : ['displayName must be a text.']),
    ...(isText(value.description) ? [] : ['description must be a text.']),
    ...(isObject(value.brand) && isText(value.brand.displayName) ? [] : ['brand.displayName must be a text.']),
    ...(isServerOnly(value.containerContexts) ? [] : ['containerContexts must be ["SERVER"].']),
    ...(categoriesFit(value.categories) ? [] : [`categories must be one to three of ${CATEGORIES.join(', ')}.`]),
  ]
  const findings = messages.map((message) => ({ line, rule: 'info', message }))
  if (terms !== null && terms.text.trim() !== '') return findings
  const message = 'The gallery refuses a template without ___TERMS_OF_SERVICE___ and its text.'
  return [{ line: terms?.line ?? 1, rule: 'terms', message }, ...findings]
}

const isText = (value: Plain): boolean => typeof value === 'string' && value !== ''

const isServerOnly = (value: Plain): boolean => isList(value) && value.length === 1 && value[0] === 'SERVER'

const categoriesFit = (value: Plain): boolean =>
  isList(value) &&
  value.length >= 1 &&
  value.length <= 3 &&
  value.every((item) => typeof item === 'string' && CATEGORIES.includes(item))
