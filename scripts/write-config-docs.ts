/**
 * Writes docs/configuration.md and .env.example from the settings table. With `--check` it writes nothing, and fails when one of them
 * differs.
 */
import { configurationPage, environmentExample } from './config-docs.ts'
import { writeGenerated } from './generated-file.ts'

writeGenerated('docs/configuration.md', configurationPage(), 'the settings in src/config.ts')
writeGenerated('.env.example', environmentExample(), 'the settings in src/config.ts')
