import { isList, isObject, type PlainObject } from '../parse/index.ts'
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

const KINDS = ['TAG', 'MACRO', 'CLIENT']

/** ___INFO___ and the terms: what an import needs, and what the gallery wishes besides. */
export function lintInfo({ info, terms, preamble }: Template): Finding[] {
  const { value, line } = info
  const errors = [
    ...(typeof value.type === 'string' && KINDS.includes(value.type)
      ? []
      : [`type must be one of ${KINDS.join(', ')}.`]),
    ...(typeof value.id === 'string' && value.id.startsWith('cvt_') ? [] : ['id must begin with "cvt_".']),
    ...(value.version === 1 ? [] : ['version must be 1, as in every template file.']),
    ...(isText(value.displayName) ? [] : ['displayName must be a text.']),
    ...(isServerOnly(value.containerContexts) ? [] : ['containerContexts must be ["SERVER"].']),
  ]
  const hasTerms = terms !== null && terms.text.trim() !== ''
  return [
    ...(preamble === null
      ? []
      : [{ line: preamble, rule: 'style', message: 'Text stands before the first section marker.' }]),
    ...(hasTerms
      ? []
      : [wish(terms?.line ?? 1, 'The gallery refuses a template without ___TERMS_OF_SERVICE___ and its text.')]),
    ...errors.map((message) => ({ line, rule: 'info', message })),
    ...galleryWishes(value).map((message) => wish(line, message)),
  ]
}

const wish = (line: number, message: string): Finding => ({ line, rule: 'gallery', message })

/** Only the gallery asks for these; a container takes a template without them. */
function galleryWishes({ id, description, brand, categories }: PlainObject): string[] {
  const { displayName, thumbnail } = isObject(brand) ? brand : {}
  return [
    ...(id === 'cvt_temp_public_id' ? [] : ['id should be "cvt_temp_public_id", as the export writes it.']),
    ...(isText(description) ? [] : ['description should be a text.']),
    ...(isText(displayName) ? [] : ['brand.displayName should be a text.']),
    ...(isPicture(thumbnail) ? [] : ['brand.thumbnail should be a PNG or JPEG as a data: address.']),
    ...(categoriesFit(categories) ? [] : [`categories should be one to three of ${CATEGORIES.join(', ')}.`]),
  ]
}

const isPicture = (value: Plain): boolean =>
  typeof value === 'string' && /^data:image\/(png|jpeg);base64,[A-Za-z0-9+/]+={0,2}$/.test(value)

const isText = (value: Plain): boolean => typeof value === 'string' && value !== ''

const isServerOnly = (value: Plain): boolean => isList(value) && value.length === 1 && value[0] === 'SERVER'

const categoriesFit = (value: Plain): boolean =>
  isList(value) &&
  value.length >= 1 &&
  value.length <= 3 &&
  value.every((item) => typeof item === 'string' && CATEGORIES.includes(item))
