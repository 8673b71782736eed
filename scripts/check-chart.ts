/**
 * Checks the chart with Helm: `helm lint --strict`, and `helm template` with each file in its folder `ci`. Without Helm it says so and
 * succeeds; the build server has Helm.
 *
 *     node scripts/check-chart.ts
 *
 * `HELM` names a program that is not on the path.
 */
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { join } from 'node:path'

const CHART = join(import.meta.dirname, '../deploy/helm/tagwarden')
const helm = process.env.HELM ?? 'helm'

const found = spawnSync(helm, ['version', '--short'], { encoding: 'utf8' })
if (found.error !== undefined) {
  console.log(`skipped: no Helm here (${helm}), so nothing has rendered the chart`)
  process.exit(0)
}
for (const values of globSync('ci/*-values.yaml', { cwd: CHART })) {
  for (const args of [
    ['lint', CHART, '--strict'],
    ['template', 'check', CHART],
  ]) {
    const { status, stdout, stderr } = spawnSync(helm, [...args, '--values', join(CHART, values)], { encoding: 'utf8' })
    console.log(`${status === 0 ? 'ok  ' : 'NOT '} helm ${args[0]} with ${values}, ${found.stdout.trim()}`)
    if (status === 0) continue
    console.error(`${stdout}${stderr}`)
    process.exitCode = 1
  }
}
