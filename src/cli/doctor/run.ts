import { join } from 'node:path'
import type { Config, Environment } from '../../config.ts'
import { StartupError } from '../../lib/index.ts'
import { misspelt } from '../misspelt.ts'
import { configFromEnvironment } from '../options.ts'
import { configFindings, envFileFinding } from './config.ts'
import { type DoctorFinding, findingLine, verdict } from './doctor-finding.ts'
import { dataDirFindings, limitFindings, nodeFinding } from './machine.ts'
import {
  askOutside,
  clockFinding,
  type OutboundTarget,
  outboundFinding,
  portFinding,
  receiverFindings,
  smtpFinding,
} from './network.ts'
import { postgresFindings } from './postgres.ts'
import { schemaFinding, storeFindings } from './store.ts'

/** Runs every check and prints each finding when it is known, or all as JSON at the end; the exit code is 1 when one failed. */
export async function examine(outbound: readonly OutboundTarget[], asJson: boolean): Promise<void> {
  const findings: DoctorFinding[] = []
  const options = { outbound, folder: '.', readSettings: configFromEnvironment, environment: process.env }
  for await (const finding of allFindings(options)) {
    findings.push(finding)
    if (!asJson) console.log(findingLine(finding))
  }
  console.log(asJson ? JSON.stringify(findings, null, 2) : verdict(findings))
  if (findings.some(({ level }) => level === 'failed')) process.exitCode = 1
}

export interface DoctorOptions {
  outbound: readonly OutboundTarget[]
  /** The folder in which to look for a `.env`. */
  folder: string
  /** @throws StartupError for invalid settings */
  readSettings: () => Config
  /** What the settings were read from. */
  environment: Environment
}

/** Runs every check and yields each finding when it is known. */
export async function* allFindings(options: DoctorOptions): AsyncGenerator<DoctorFinding> {
  const { outbound, folder, readSettings, environment } = options
  const outside = Promise.all(outbound.map(askOutside))
  yield nodeFinding(process.versions.node)
  const envFile = await envFileFinding(join(folder, '.env'))
  if (envFile !== null) yield envFile
  const config = settingsOrRefusal(readSettings)
  for (const text of misspelt(environment)) yield { check: 'config', level: 'warning', text }
  if (config instanceof StartupError) {
    yield { check: 'config', level: 'failed', text: `${config.message}; the database was not checked` }
  } else {
    const receiversAsked = messagingFindings(config)
    yield { check: 'config', level: 'ok', text: 'every setting is valid' }
    yield* configFindings(config)
    yield* await limitFindings()
    yield* storageFindings(config)
    yield await portFinding(config)
    yield* await receiversAsked
  }
  const answers = await outside
  yield clockFinding(answers)
  yield* answers.map(outboundFinding)
}

async function* storageFindings(config: Config): AsyncGenerator<DoctorFinding> {
  const { databaseUrl: url, databaseReadUrl: readUrl, databasePoolSize: poolSize } = config
  if (url !== null) {
    yield* await postgresFindings({ url, readUrl, poolSize, schemaFinding })
    return
  }
  const folder = await dataDirFindings(config.dataDir)
  yield* folder
  if (folder.every(({ level, check }) => level !== 'failed' || check !== 'DATA_DIR')) yield* await storeFindings(config)
}

async function messagingFindings(config: Config): Promise<DoctorFinding[]> {
  const [mail, receivers] = await Promise.all([smtpFinding(config), receiverFindings(config)])
  return mail === null ? receivers : [mail, ...receivers]
}

function settingsOrRefusal(readSettings: () => Config): Config | StartupError {
  try {
    return readSettings()
  } catch (thrown) {
    if (thrown instanceof StartupError) return thrown
    throw thrown
  }
}
