/**
 * Writes the schema that the migrations end in, to read and to review what a migration changes. With `--check` it writes
 * nothing and fails when the committed schema is another.
 */
import { writeGenerated } from './generated-file.ts'
import { sqliteSchema } from './sqlite-schema.ts'

writeGenerated('src/store/schema/sqlite.sql', await sqliteSchema(), 'the migrations in src/store/migrations')
