import type { OtherTag, Plain, TagStatus } from '../../tag/sandbox/index.ts'
import type { Random } from '../../testkit/random.ts'

/** One event of a shop, and what a monitor should see of it. Told by the maker of the event, not read off its data. */
export interface Fired {
  readonly data: Readonly<Record<string, Plain>>
  readonly tags: readonly OtherTag[]
  readonly name: string
  readonly has: ReadonlySet<UserField>
  /** Null unless it is a commerce event. */
  readonly commerce: ReadonlySet<CommerceField> | null
  /** What its signals say of the two that tags are held to. */
  readonly consent: { readonly ad_storage: string; readonly analytics_storage: string }
  readonly ran: readonly { key: string; status: TagStatus; ms: number; response: ResponseClass | null }[]
}

type ResponseClass = '2xx' | '3xx' | '4xx' | '5xx' | 'none'

/** What a tag may tell of its answers, and what is to be counted of it. */
const ANSWERS: readonly { statuses: readonly number[]; response: ResponseClass | null }[] = [
  { statuses: [], response: null },
  { statuses: [200], response: '2xx' },
  { statuses: [2, 302], response: '3xx' },
  { statuses: [400, 204], response: '4xx' },
  { statuses: [404, 503], response: '5xx' },
  { statuses: [0, 500], response: 'none' },
]

export const USER_FIELDS = ['email', 'phone', 'first_name', 'last_name', 'city', 'country'] as const
export type UserField = (typeof USER_FIELDS)[number]
export const COMMERCE_FIELDS = ['value', 'currency', 'transaction_id', 'items'] as const
export type CommerceField = (typeof COMMERCE_FIELDS)[number]

/** A tag that the form's table excludes. */
export const EXCLUDED_TAG = 77
/** The template's own tag. */
export const OWN_TAG = 99

const EVENTS = [
  { name: 'page_view', isCommerce: false },
  { name: 'generate_lead', isCommerce: false },
  { name: 'constructor', isCommerce: false },
  { name: 'Käufe/ß', isCommerce: false },
  { name: 'add_to_cart', isCommerce: true },
  { name: 'purchase', isCommerce: true },
] as const
const STATUSES: readonly TagStatus[] = ['success', 'success', 'success', 'failure', 'timeout', 'exception']
const TAGS = [
  { id: 31, name: 'GA4' },
  { id: 32, name: 'GA4' },
  { id: 42, name: 'Meta CAPI' },
  { id: 50, name: null },
  { id: EXCLUDED_TAG, name: 'Not of interest' },
] as const

const CONSENTS: readonly { data: Readonly<Record<string, Plain>>; classes: readonly [string, string] }[] = [
  { data: {}, classes: ['absent', 'absent'] },
  { data: { 'x-ga-gcs': 'G111' }, classes: ['granted', 'granted'] },
  { data: { 'x-ga-gcs': 'G101' }, classes: ['denied', 'granted'] },
  { data: { 'x-ga-gcs': 'G100', 'x-ga-gcd': '13p3p3p3p1l1' }, classes: ['denied', 'denied'] },
  { data: { 'x-ga-gcd': '13r3r3r3r1l1', 'x-ga-dma': '1' }, classes: ['granted', 'granted'] },
  { data: { consent_state: { ad_storage: true, analytics_storage: false } }, classes: ['granted', 'denied'] },
]

export function randomEvent(random: Random): Fired {
  const pick = <T>(list: readonly T[]): T => list[random.below(list.length)] as T
  const { name, isCommerce } = pick(EVENTS)
  const has = new Set(USER_FIELDS.filter(() => random.chance(1 / 2)))
  const commerce = new Set(COMMERCE_FIELDS.filter(() => random.chance(2 / 3)))
  const chosen = TAGS.filter(() => random.chance(2 / 3))
  const tags = chosen.map(({ id, name: tagName }) => ({
    id,
    status: pick(STATUSES),
    executionTime: random.below(900),
    ...(tagName === null ? {} : { metadata: { name: tagName } }),
  }))
  const { data: signals, classes } = pick(CONSENTS)
  const answers = new Map(tags.map(({ id }) => [id, pick(ANSWERS)]))
  const counted = tags.filter(({ id }) => id !== EXCLUDED_TAG)
  return {
    data: { event_name: name, ...userData(has, pick), ...commerceData(commerce, pick), ...signals },
    tags: tags.map((tag) => ({
      ...tag,
      messages: (answers.get(tag.id)?.statuses ?? []).map((httpStatus) => ({
        type: 'tagwarden_status',
        message: { tag: pick([tag.id, String(tag.id)]), status: httpStatus },
      })),
    })),
    name,
    has,
    commerce: isCommerce ? commerce : null,
    consent: { ad_storage: classes[0], analytics_storage: classes[1] },
    ran: counted.map(({ id, status, executionTime: ms, metadata }) => ({
      key: metadata?.name ?? `tag_${id}`,
      status,
      ms,
      response: answers.get(id)?.response ?? null,
    })),
  }
}

type Pick = <T>(list: readonly T[]) => T
type Shapes<F extends string> = Record<F, readonly Readonly<Record<string, Plain>>[]>

const USER_SHAPES: Shapes<'email' | 'phone'> = {
  email: [{ email_address: 'a@b.example' }, { sha256_email_address: ['5f', '6a'] }, { email: 'a@b.example' }],
  phone: [{ phone_number: '+49301234' }, { sha256_phone_number: '77' }, { phone: '+49301234' }],
}
const ADDRESS_SHAPES: Shapes<'first_name' | 'last_name' | 'city' | 'country'> = {
  first_name: [{ first_name: 'Ada' }, { sha256_first_name: '0a' }],
  last_name: [{ last_name: 'Byron' }, { sha256_last_name: '0b' }],
  city: [{ city: 'London' }],
  country: [{ country: 'GB' }],
}
const COMMERCE_SHAPES: Shapes<CommerceField> = {
  value: [{ value: 0 }, { value: 12.5 }, { value: '12.5' }],
  currency: [{ currency: 'EUR' }],
  transaction_id: [{ transaction_id: 'T1' }, { transaction_id: 4711 }],
  items: [{ items: [{ item_id: 'a' }] }],
}

const filled = <F extends string>(shapes: Shapes<F>, has: ReadonlySet<string>, pick: Pick) =>
  Object.assign({}, ...(Object.keys(shapes) as F[]).filter((f) => has.has(f)).map((f) => pick(shapes[f])))

function userData(has: ReadonlySet<UserField>, pick: Pick): Record<string, Plain> {
  const user = filled(USER_SHAPES, has, pick)
  const address = filled(ADDRESS_SHAPES, has, pick)
  if (has.size === 0) return pick([{}, { user_data: {} }, { user_data: { email_address: '', address: [{}] } }])
  return pick([
    { user_data: { ...user, address } },
    { user_data: { ...user, address: [address] } },
    { user_data: { ...user, ...address } },
  ])
}

function commerceData(has: ReadonlySet<CommerceField>, pick: Pick): Record<string, Plain> {
  const fields = filled(COMMERCE_SHAPES, has, pick)
  return pick([fields, { ecommerce: fields }])
}
