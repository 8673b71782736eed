/**
 * Writes the schema after all migrations, for reading and for reviewing what a migration changes. With `--check` it writes nothing, and
 * fails when the committed schema differs.
 */
import { writeGenerated } from './generated-file.ts'
import { sqliteSchema } from './sqlite-schema.ts'

writeGenerated('src/store/schema/sqlite.sql', await sqliteSchema(), 'the migrations in src/store/migrations')
