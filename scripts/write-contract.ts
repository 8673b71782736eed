/**
 * Writes the ingest wire format as JSON Schema, for those who write a sender. With `--check` it writes nothing and fails
 * when the committed schema is not that of the service.
 */
import { contractSchema } from './contract-schema.ts'
import { writeGenerated } from './generated-file.ts'

writeGenerated('contract/ingest.schema.json', contractSchema(), 'the schemas in src/journal/payload.ts')
