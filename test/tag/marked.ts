import assert from 'node:assert/strict'
import type { Plain, Template } from '../../tag/sandbox/index.ts'

/** Stands in every content of these events, and in nothing else: long enough to be in no key and in no database by chance. */
export const MARK = 'zqjxwkv'

/** Every name under which the template or a client might keep something. */
const NAMES = [
  ...['email', 'email_address', 'sha256_email', 'sha256_email_address', 'phone', 'phone_number', 'sha256_phone_number'],
  ...['first_name', 'firstName', 'FirstName', 'nameFirst', 'sha256_first_name'],
  ...['last_name', 'lastName', 'LastName', 'nameLast', 'sha256_last_name', 'name', 'value'],
  ...['street', 'postal_code', 'city', 'region', 'country', 'currency', 'transaction_id', 'items', 'item_id', 'id'],
]

/** What other templates may say, with content where it does not belong. */
export const MESSAGES = [
  { tag: 7, status: 400, url: `https://vendor.example/${MARK}`, body: MARK },
  { tag: MARK, status: 500 },
  { tag: 7, status: MARK },
  { tag: { [MARK]: MARK }, status: { [MARK]: MARK } },
  [MARK],
  MARK,
].map((message) => ({ type: 'tagwarden_status', message }))

type Content = (path: string) => Plain

const objectOf = (path: string, content: Content): Plain =>
  Object.fromEntries(NAMES.map((name) => [name, content(`${path}.${name}`)]))

/** The shapes in which a field may come, each with content of its own down to the last leaf. */
export const SHAPES: readonly Content[] = [
  (path) => `${MARK} ${path}@example.com`,
  (path) => [`${MARK} ${path}`, `${MARK} ${path} again`],
  (path) => objectOf(path, (leaf) => `${MARK} ${leaf}`),
  (path) => ({
    ...Object(objectOf(path, (leaf) => [`${MARK} ${leaf}`])),
    address: [objectOf(path, (l) => `${MARK} ${l}`)],
  }),
  (path) => [objectOf(path, (leaf) => ({ [`${MARK} key`]: `${MARK} ${leaf}` }))],
]

/** The fields that the template may read at all, by its own permissions. */
export function readableFields(template: Template): string[] {
  const keys = template.permissions.find(({ publicId }) => publicId === 'read_event_data')?.params.keyPatterns
  assert.ok(Array.isArray(keys))
  return keys.map(String)
}
