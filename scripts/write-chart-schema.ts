/** Writes the schema of the Helm chart's values, with every setting by name. With `--check` it fails when the file differs. */
import { chartSchema } from './chart-schema.ts'
import { writeGenerated } from './generated-file.ts'

writeGenerated(
  'deploy/helm/tagwarden/values.schema.json',
  `${JSON.stringify(chartSchema(), null, 2)}\n`,
  'scripts/chart-schema.ts and src/config-settings.ts',
)
