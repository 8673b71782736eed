import { BatchPayload, EventPayload } from '../src/journal/index.ts'

/** The content of `contract/ingest.schema.json`: the JSON Schema of ingest payloads. */
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

/** The formatter's line width, as in `biome.json`. */
const LINE_WIDTH = 120

/** Puts lists of plain values on one line if they fit, as the formatter does. */
const oneLineLists = (json: string): string =>
  json.replace(
    /^( *(?:"[^"\n]*": )?)\[\s+([^[\]{}]*?)\s+\](,?)$/gm,
    (list, before: string, items: string, after: string) => {
      const line = `${before}[${items.replace(/,\s+/g, ', ')}]${after}`
      return line.length <= LINE_WIDTH ? line : list
    },
  )
