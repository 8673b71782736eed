import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf, printable, StartupError, systemClock } from '../../lib/index.ts'
import { VERSION } from '../../version.ts'
import { withProgress } from '../progress.ts'
import { Api, type ApiTarget, type Caller } from './api.ts'
import { carryOut } from './carry-out.ts'
import type { Change } from './change.ts'
import { writeExport } from './export.ts'
import { editorSchema } from './file-schema.ts'
import { type Plan, planOf } from './plan.ts'
import type { InvitationLink } from './planning.ts'
import { type Need, readPresent, readUsers } from './present.ts'
import { ConfigProblems } from './problems.ts'
import { nameKey, type Source, type WantedClient, wantedClients } from './wanted.ts'
import { wantedUsers } from './wanted-users.ts'
import { YamlFile } from './yaml-file.ts'

interface ApplyOptions extends ApiTarget {
  paths: readonly string[]
  /** Only shows what would change. */
  plan: boolean
  /** Shows the plan as JSON. */
  json?: boolean
  prune: boolean
  environment: Readonly<Record<string, string | undefined>>
  /** Receives the output, line by line. */
  print?: (line: string) => void
}

/** Exit code of `--plan` when something would change, as other tools do. */
const WOULD_CHANGE = 2
/** Number of changes from which progress is shown. */
const WORTH_PROGRESS = 100

const CLEAR_LINE = '\r\u001b[K'

/** @returns the exit code. @throws StartupError */
export async function apply(options: ApplyOptions): Promise<number> {
  const { paths, plan: isPlan, json = false, prune, environment, print = console.log, ...target } = options
  const files = await readFiles(paths, environment)
  const wanted = wantedClients(files)
  const users = wantedUsers(files)
  const logos = await readLogos(wanted)
  const api = new Api(target)
  const caller = await api.requireFullSight()
  const settings = await api.settings()
  noteVersion(settings?.version)
  if (users !== null) requireOwnerOfAll(caller)
  const callers =
    users === null ? [] : [...(await api.makersOfToken()), ...(caller.email === null ? [] : [caller.email])]
  const planNow = async (): Promise<Plan> => {
    const now = systemClock.now()
    const logoOf = ({ file, path }: Source) => logos.get(`${file.name} ${path.join('/')}`)
    const people = { wanted: users, present: users === null ? [] : await readUsers(api), callers }
    return planOf(wanted, await readPresent(api, needOf(wanted), now), {
      ...{ api, caller, defaultPlan: settings?.default_plan ?? null, prune, now, logoOf, people },
      // At once, because the service shows a link only once and the run may be interrupted.
      onInvited: (email, link) => {
        // A progress bar would stay in front of the line.
        if (process.stderr.isTTY) process.stderr.write(CLEAR_LINE)
        print(invitationLine(email, link))
      },
    })
  }
  const plan = await planNow()
  for (const line of json ? [planJson(plan)] : planLines(plan)) print(line)
  const { length } = plan.changes
  if (length === 0) return 0
  if (isPlan) return WOULD_CHANGE
  if (length < WORTH_PROGRESS) await carryOut(api, plan.changes)
  else await withProgress('applying', length, (update) => carryOut(api, plan.changes, update))
  // Plan again to detect what someone else changed between the calls.
  const { changes: left } = await planNow()
  if (left.length > 0) {
    const names = left.slice(0, 5).map(({ what }) => printable(what))
    throw new StartupError(`someone else changed the service in the meantime: ${names.join(', ')}; run it again`)
  }
  print(doneLine(plan.changes))
  return 0
}

/** Fields and rules may differ between minor versions. To standard error, as the output may be for programs. */
function noteVersion(ofService: string | undefined): void {
  const minorOf = (version: string) => version.split('.', 2).join('.')
  if (ofService === undefined || minorOf(ofService) === minorOf(VERSION)) return
  console.error(
    `tagwarden: this is version ${VERSION} and the service runs ${printable(ofService)}: use the same, as their rules may differ`,
  )
}

/** @throws StartupError */
function requireOwnerOfAll({ isOpen, all }: Caller): void {
  if (isOpen) {
    throw new StartupError(
      'with the first account this service asks everyone to sign in: start it with ADMIN_TOKEN, and apply users with that',
    )
  }
  if (all === 'owner') return
  throw new StartupError('users need the token of an owner of all clients: ADMIN_TOKEN, or an API token of one')
}

const NO_NEED: Need = { channels: false, statusPage: false }

function needOf(wanted: readonly WantedClient[]): (name: string) => Need {
  const needs = new Map<string, Need>()
  for (const { name, renamedFrom, channels, statusPage } of wanted) {
    const need = { channels: channels !== null, statusPage: statusPage !== null }
    needs.set(nameKey(name), need)
    const before = nameKey(renamedFrom ?? name)
    if (!needs.has(before)) needs.set(before, need)
  }
  return (name) => needs.get(nameKey(name)) ?? NO_NEED
}

/** Reads the files, and the YAML files in folders and their subfolders. */
async function readFiles(paths: readonly string[], environment: ApplyOptions['environment']): Promise<YamlFile[]> {
  const names = new Set<string>()
  for (const path of paths) for (const name of await filesAt(path)) names.add(name)
  const files: YamlFile[] = []
  const problems: ConfigProblems['problems'][number][] = []
  for (const name of names) {
    try {
      files.push(new YamlFile(name, textOf(name, await bytesOf(name)), environment))
    } catch (thrown) {
      if (!(thrown instanceof ConfigProblems)) throw thrown
      problems.push(...thrown.problems)
    }
  }
  if (problems.length > 0) throw new ConfigProblems(problems)
  return files
}

/** @throws StartupError */
async function bytesOf(name: string): Promise<Buffer> {
  try {
    return await readFile(name)
  } catch (thrown) {
    throw new StartupError(`${name} cannot be read: ${codeOf(thrown)}`)
  }
}

/** Requires UTF-8: wrongly decoded names would match nothing, and `--prune` would then delete what the real names stand for. */
function textOf(name: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new StartupError(`${name} is not UTF-8: save it in this encoding`)
  }
}

async function filesAt(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    const names = await yamlIn(path)
    if (names.length === 0) throw new StartupError(`${path} holds no file that ends in .yaml or .yml`)
    return names.sort()
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') throw new StartupError(`${path}: there is no such file or folder`)
    if (codeOf(thrown) !== '') throw new StartupError(`${path} cannot be read: ${codeOf(thrown)}`)
    throw thrown
  }
}

/**
 * The YAML files in the folder and below it. Links are followed, because the clients of a file left out would be deleted by `--prune`.
 * Hidden folders are left out: the files of a mounted ConfigMap are links into one, and would be read twice.
 */
async function yamlIn(folder: string, above: readonly string[] = []): Promise<string[]> {
  const real = await realpath(folder)
  // A link to a folder above it.
  if (above.includes(real)) return []
  const names: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    const isLink = entry.isSymbolicLink()
    if (entry.name.startsWith('.')) continue
    if (entry.isDirectory() || (isLink && (await isFolder(path)))) names.push(...(await yamlIn(path, [...above, real])))
    else if ((entry.isFile() || isLink) && /\.ya?ml$/i.test(entry.name)) names.push(path)
  }
  return names
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

/** The logos that the files name, by the place of the name. */
async function readLogos(wanted: readonly WantedClient[]): Promise<ReadonlyMap<string, string | null>> {
  const logos = new Map<string, string | null>()
  for (const { statusPage } of wanted) {
    const logo = statusPage?.entry.logo
    if (statusPage === null || logo === undefined) continue
    const { source } = statusPage
    const key = `${source.file.name} ${source.path.join('/')}`
    if (logo === null) {
      logos.set(key, null)
      continue
    }
    const bytes = await readFile(join(dirname(source.file.name), logo)).catch((thrown: unknown) => {
      throw new ConfigProblems([source.at('logo').problem(`${logo} cannot be read: ${codeOf(thrown)}`)])
    })
    logos.set(key, bytes.toString('base64'))
  }
  return logos
}

/** @throws StartupError */
export async function exportAll({ folder, ...target }: ApiTarget & { folder: string | null }): Promise<void> {
  const api = new Api(target)
  const { all } = await api.requireFullSight()
  const present = await readPresent(api, () => ({ channels: true, statusPage: true }), systemClock.now())
  const users = all === 'owner' ? await readUsers(api) : null
  for (const line of await writeExport(api, present, users, folder)) console.error(`tagwarden: ${line}`)
}

export function printSchema(): void {
  console.log(JSON.stringify(editorSchema(), null, 2))
}

const SIGNS = { create: '+', update: '~', delete: '-' } as const

/** The plan as lines for people, without secrets and terminal control characters. */
function planLines({ changes, kept }: Plan): string[] {
  const lines = changes.flatMap(({ action, what, fields }) => [
    `${SIGNS[action]} ${printable(what)}`,
    ...fields.map(({ name, before, after }) => `    ${name}: ${before} → ${after}`),
  ])
  return [...lines, ...keptLines(kept), summary(changes)]
}

/** The same for programs. A deletion has no place in a file. */
const planJson = ({ changes, kept }: Plan): string =>
  JSON.stringify({
    changes: changes.map(({ action, what, fields, source }) => ({
      action,
      what,
      fields,
      place: source?.place ?? null,
    })),
    kept,
  })

function keptLines(kept: readonly string[]): string[] {
  if (kept.length === 0) return []
  const names = kept.slice(0, 10).map((what) => `    ${printable(what)}`)
  const rest = kept.length - names.length
  return [
    `= ${kept.length} in no file, left as they are (--prune deletes them):`,
    ...names,
    ...(rest > 0 ? [`    … and ${rest} more`] : []),
  ]
}

/** `3 to create, 1 to change, none to delete`. */
function summary(changes: readonly Change[]): string {
  if (changes.length === 0) return 'Nothing to change.'
  return `${inWords(changes, { create: 'to create', update: 'to change', delete: 'to delete' })}.`
}

/** With the link if the service did not mail it. Anyone who has the link can set the password. */
function invitationLine(email: string, { mailed, expires_at, url }: InvitationLink): string {
  const who = `Invited ${printable(email)}`
  return mailed ? `${who} by e-mail.` : `${who}, with a link that works once, until ${expires_at}: ${url}`
}

const doneLine = (changes: readonly Change[]): string =>
  `Done: ${inWords(changes, { create: 'created', update: 'changed', delete: 'deleted' })}.`

function inWords(changes: readonly Change[], words: Readonly<Record<Change['action'], string>>): string {
  const count = (action: Change['action']) => changes.filter((change) => change.action === action).length
  return (['create', 'update', 'delete'] as const).map((action) => `${count(action)} ${words[action]}`).join(', ')
}
