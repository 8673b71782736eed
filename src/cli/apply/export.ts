import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { UserRecord } from '../../accounts/index.ts'
import { codeOf, fileNamePart, StartupError } from '../../lib/index.ts'
import type { Api } from './api.ts'
import { exported, exportedUsers, Placeholders } from './exported.ts'
import { editorSchema } from './file-schema.ts'
import type { PresentClient } from './present.ts'
import { ConfigProblems, type Problem } from './problems.ts'

const SCHEMA_FILE = 'tagwarden.schema.json'
const FILE = 'tagwarden.yaml'

/**
 * Writes the service's state as a file for `apply`.
 *
 * @param users null when the caller may not see them; they are left out
 * @param folder null to write only the file, to standard output
 * @returns notes for people, one sentence each
 * @throws StartupError when names are ambiguous, or the file already exists
 */
export async function writeExport(
  api: Api,
  present: readonly PresentClient[],
  users: readonly UserRecord[] | null,
  folder: string | null,
): Promise<string[]> {
  requireClearNames(present)
  const path = folder === null ? null : join(folder, FILE)
  if (path !== null && existsSync(path)) throw new StartupError(`${path} exists: choose another folder`)
  const placeholders = new Placeholders()
  const logos = new Map<string, string>()
  const names = new Set<string>()
  for (const { record, statusPage } of present) {
    if (folder === null || (statusPage?.looks.logo ?? null) === null) continue
    const bytes = await api.bytes(`/api/clients/${record.id}/status-page/logo`)
    const file = freeName(fileNamePart(record.name, 'client'), names)
    logos.set(record.id, `logos/${file}${endingOf(bytes)}`)
    await writeNew(join(folder, 'logos', `${file}${endingOf(bytes)}`), bytes)
  }
  const { stringify } = await import('yaml')
  const people = users === null ? [] : exportedUsers(users, present)
  const file = {
    clients: present.map((client) => exported(client, placeholders, logos)),
    ...(people.length === 0 ? {} : { users: people }),
  }
  const yaml = stringify(file, { lineWidth: 0 })
  const text = `# yaml-language-server: $schema=./${SCHEMA_FILE}\n${yaml}`
  if (path === null || folder === null) console.log(text.trimEnd())
  else {
    await writeNew(path, text)
    const schema = join(folder, SCHEMA_FILE)
    // It holds nothing of this service, so it may replace one that is there.
    await writeFile(schema, `${JSON.stringify(editorSchema(), null, 2)}\n`).catch((thrown: unknown) => {
      throw cannotWrite(schema, thrown)
    })
  }
  const hasLogos = present.some(({ statusPage }) => (statusPage?.looks.logo ?? null) !== null)
  return [
    ...(placeholders.names.length === 0 ? [] : [`the file needs these variables: ${placeholders.names.join(', ')}`]),
    ...(users === null ? ['people are left out: the token of an owner of all clients sees them'] : []),
    ...(folder === null && hasLogos ? ['logos are left out: --out also writes them'] : []),
  ]
}

/** Writes a new file, in a folder that is made if missing. What was written of it does not stay when the rest fails. @throws StartupError */
async function writeNew(path: string, content: string | Buffer): Promise<void> {
  await makeFolder(dirname(path))
  try {
    await writeFile(path, content, { flag: 'wx' })
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST') throw new StartupError(`${path} exists: choose another folder`)
    await rm(path, { force: true }).catch(() => undefined)
    throw cannotWrite(path, thrown)
  }
}

const makeFolder = (path: string): Promise<unknown> =>
  mkdir(path, { recursive: true }).catch((thrown: unknown) => {
    throw cannotWrite(path, thrown)
  })

const cannotWrite = (path: string, thrown: unknown): StartupError =>
  new StartupError(`${path} cannot be written: ${codeOf(thrown)}`)

function freeName(name: string, taken: Set<string>): string {
  for (let count = 1; ; count++) {
    const free = count === 1 ? name : `${name}-${count}`
    if (taken.has(free)) continue
    taken.add(free)
    return free
  }
}

/** The file extension of a logo, by the magic number of the formats that the service accepts. */
function endingOf(bytes: Buffer): string {
  if (bytes.subarray(1, 4).toString('latin1') === 'PNG') return '.png'
  return bytes.subarray(0, 4).toString('latin1') === 'RIFF' ? '.webp' : '.jpg'
}

/** `apply` recognises things by name, so it could not tell apart two of the same name. */
function requireClearNames(present: readonly PresentClient[]): void {
  const problems: Problem[] = []
  const look = (what: string, names: readonly string[], of: string) => {
    for (const [name, same] of Map.groupBy(names, (each) => each)) {
      if (same.length === 1) continue
      problems.push({ place: null, message: `${same.length} ${what}s are called “${name}”${of}: rename one first` })
    }
  }
  const clientNames = present.map(({ record }) => record.name)
  look('client', clientNames, '')
  for (const { record, sites, channels, maintenance } of present) {
    const client = ` at “${record.name}”`
    look(
      'site',
      sites.map((site) => site.record.name),
      client,
    )
    look(
      'channel',
      (channels ?? []).map(({ name }) => name),
      client,
    )
    look(
      'maintenance',
      maintenance.map(({ title }) => title),
      client,
    )
    for (const site of sites) {
      const at = ` at “${site.record.name}”${client}`
      look(
        'probe',
        site.probes.map((probe) => probe.record.name),
        at,
      )
      look(
        'maintenance',
        site.maintenance.map(({ title }) => title),
        at,
      )
      for (const probe of site.probes) {
        look(
          'maintenance',
          probe.maintenance.map(({ title }) => title),
          ` of “${probe.record.name}”${at}`,
        )
      }
    }
  }
  if (problems.length > 0) throw new ConfigProblems(problems)
}
