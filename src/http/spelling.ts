interface ObjectSchema {
  type?: unknown
  required?: readonly string[]
  minProperties?: number
  properties?: Readonly<Record<string, { type?: unknown; format?: unknown; items?: { format?: unknown } }>>
}

type Fields = Record<string, unknown>

const isFields = (data: unknown): data is Fields => typeof data === 'object' && data !== null && !Array.isArray(data)

/** Brings ids at the top of a body into the one spelling that they are stored in, in place. */
export function settleIds({ properties = {} }: ObjectSchema, data: unknown): void {
  if (!isFields(data)) return
  for (const [name, { format, items }] of Object.entries(properties)) {
    const value = data[name]
    if (format === 'uuid' && typeof value === 'string') data[name] = value.toLowerCase()
    if (items?.format === 'uuid' && Array.isArray(value)) data[name] = value.map(lowered)
  }
}

const lowered = (value: unknown): unknown => (typeof value === 'string' ? value.toLowerCase() : value)

const FLAGS: ReadonlyMap<string, string> = new Map([
  ['1', 'true'],
  ['0', 'false'],
  ['true', 'true'],
  ['false', 'false'],
])

/** The same for a query or a path, where flags have several spellings, too. */
export function settleText(schema: ObjectSchema, data: unknown): void {
  settleIds(schema, data)
  if (!isFields(data)) return
  for (const [name, { type }] of Object.entries(schema.properties ?? {})) {
    const value = data[name]
    if (type === 'boolean' && typeof value === 'string') data[name] = FLAGS.get(value.toLowerCase()) ?? value
  }
}

/** Whether a call may come without a body where this one is described: none of its fields is needed. */
export const needsNoBody = ({ type, required = [], minProperties = 0 }: ObjectSchema): boolean =>
  type === 'object' && required.length === 0 && minProperties === 0
