import type { Config } from '../../config.ts'
import { StartupError } from '../../lib/index.ts'
import { configFromEnvironment } from '../environment.ts'
import { configFindings } from './config.ts'
import { type Finding, findingLine, verdict } from './finding.ts'
import { dataDirFindings, nodeFinding } from './machine.ts'
import { askOutside, clockFinding, type OutboundTarget, outboundFinding } from './network.ts'
import { postgresFindings } from './postgres/index.ts'
import { schemaFinding, storeFindings } from './store.ts'

/** Runs every check and prints each finding as it comes; the exit code is 1 when one failed. */
export async function examine(outbound: readonly OutboundTarget[]): Promise<void> {
  const findings: Finding[] = []
  for await (const finding of allFindings(outbound)) {
    findings.push(finding)
    console.log(findingLine(finding))
  }
  console.log(verdict(findings))
  if (findings.some(({ level }) => level === 'failed')) process.exitCode = 1
}

async function* allFindings(outbound: readonly OutboundTarget[]): AsyncGenerator<Finding> {
  const asked = Promise.all(outbound.map(askOutside))
  yield nodeFinding(process.versions.node)
  const config = readConfiguration()
  if (config instanceof StartupError) {
    yield { check: 'config', level: 'failed', text: `${config.message}; the database was not checked` }
  } else {
    yield { check: 'config', level: 'ok', text: 'every setting is valid' }
    yield* configFindings(config)
    yield* storageFindings(config)
  }
  const answers = await asked
  yield clockFinding(answers)
  yield* answers.map(outboundFinding)
}

async function* storageFindings(config: Config): AsyncGenerator<Finding> {
  const { databaseUrl: url, databaseReadUrl: readUrl, databasePoolSize: poolSize } = config
  if (url !== null) {
    yield* await postgresFindings({ url, readUrl, poolSize, schemaFinding })
    return
  }
  const folder = await dataDirFindings(config.dataDir)
  yield* folder
  if (folder.every(({ level, check }) => level !== 'failed' || check !== 'DATA_DIR')) yield* await storeFindings(config)
}

function readConfiguration(): Config | StartupError {
  try {
    return configFromEnvironment()
  } catch (thrown) {
    if (thrown instanceof StartupError) return thrown
    throw thrown
  }
}
