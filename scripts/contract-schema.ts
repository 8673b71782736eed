import { BatchPayload, EventPayload } from '../src/journal/index.ts'

/** `contract/ingest.schema.json`: what ingest takes, as JSON Schema. */
export function contractSchema(): string {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Tagwarden ingest payload',
    description:
      'Written by `npm run docs` from src/journal/payload.ts. Unknown fields are ignored. `batch: true` makes a payload a batch.',
    oneOf: [{ $ref: '#/$defs/event' }, { $ref: '#/$defs/batch' }],
    $defs: { event: EventPayload, batch: BatchPayload },
  }
  return schemaText(schema)
}

export const schemaText = (schema: object): string => `${oneLineLists(JSON.stringify(schema, null, 2))}\n`

/** Lists of plain values on one line, as the formatter has them. */
const oneLineLists = (json: string): string =>
  json.replace(/\[\s+([^[\]{}]*?)\s+\]/g, (_, items: string) => `[${items.replace(/,\s+/g, ', ')}]`)
