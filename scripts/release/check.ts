/**
 * Reports whether this commit can be released, and what is missing. Run by `npm run release:check` and, with the tag, by the workflow.
 *
 *     node scripts/release/check.ts [tag]
 */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { readConfig } from '../../src/config.ts'
import { systemClock } from '../../src/lib/index.ts'
import { startService } from '../../src/main.ts'
import { type Check, checkFiles, versionOf } from './checks.ts'

const REPOSITORY = join(import.meta.dirname, '../..')
/** The scripts behind `npm run docs`. */
const GENERATED = [
  'write-config-docs.ts',
  'write-schema.ts',
  'write-contract.ts',
  'write-third-party.ts',
  'write-chart-schema.ts',
]

function script(...args: string[]): { isWell: boolean; output: string } {
  // Run the long version of tests that have one.
  const env = { ...process.env, TEST_LONG: '1' }
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: REPOSITORY, encoding: 'utf8', env })
  return { isWell: status === 0, output: `${stdout}${stderr}`.trim() }
}

function generatedFiles(): Check {
  const runs = GENERATED.map((name) => script(join('scripts', name), '--check'))
  return {
    title: 'what is generated is as its sources say',
    problems: runs.filter(({ isWell }) => !isWell).map(({ output }) => output),
  }
}

/** Checks the document of a running service, as callers see it. */
async function openApi(version: string): Promise<Check> {
  const folder = await mkdtemp(join(tmpdir(), 'tagwarden-release-'))
  const config = readConfig({ DATA_DIR: folder, PORT: '0', CONNECTION_CHECK_URLS: 'off' })
  const service = await startService({ config, clock: systemClock, log: pino({ level: 'silent' }) })
  try {
    const response = await fetch(`${service.address}/api/openapi.json`)
    const { info } = (await response.json()) as { info: { version: string } }
    const problems = info.version === version ? [] : [`/api/openapi.json says ${info.version}`]
    return { title: 'the interface says the version', problems }
  } finally {
    await service.stop(0)
    await rm(folder, { recursive: true })
  }
}

function upgrades(): Check {
  const { isWell, output } = script('scripts/test.ts', 'test/upgrade')
  return {
    title: 'stores of earlier releases answer the same after the upgrade, on both engines',
    problems: isWell ? [] : [`npm test -- test/upgrade fails:\n${output}`],
  }
}

const [tag = null] = process.argv.slice(2)
const checks = [...checkFiles(REPOSITORY, tag), generatedFiles(), await openApi(versionOf(REPOSITORY)), upgrades()]
for (const { title, problems } of checks) {
  console.log(`${problems.length === 0 ? 'ok  ' : 'NOT '} ${title}`)
  for (const problem of problems) console.log(`     ${problem}`)
}
const failed = checks.filter(({ problems }) => problems.length > 0).length
console.log(
  failed === 0 ? `Ready: tag it v${versionOf(REPOSITORY)}.` : `Not ready: ${failed} of ${checks.length} do not hold.`,
)
if (failed > 0) process.exitCode = 1
