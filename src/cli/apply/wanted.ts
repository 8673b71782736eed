import { checkerOf } from '../../http/index.ts'
import type { ErrorDetail } from '../../lib/index.ts'
import {
  type ClientEntry,
  ClientOfFile,
  FileOfClients,
  type MaintenanceEntry,
  type ProbeEntry,
  type SiteEntry,
  type StatusPageEntry,
} from './file-schema.ts'
import { titleOf } from './probe-settings.ts'
import { ConfigProblems, type Place, type Problem } from './problems.ts'
import type { Path } from './variables.ts'
import type { YamlFile } from './yaml-file.ts'

/** The place in a file that asks for something. */
export class Source {
  readonly file: YamlFile
  readonly path: Path

  constructor(file: YamlFile, path: Path) {
    this.file = file
    this.path = path
  }

  at(...path: Path): Source {
    return new Source(this.file, [...this.path, ...path])
  }

  get place(): Place {
    return this.file.placeOf(this.path)
  }

  /** The text in the file, when environment variables were filled in; null when the file holds the value itself. */
  get rawText(): string | null {
    return this.file.rawTextOf(this.path)
  }

  /** The value of a field as people see it, without values from the environment. */
  shown(field: string, value: string): string {
    return this.at(field).rawText ?? value
  }

  problem(message: string): Problem {
    return { place: this.place, message }
  }
}

/** Something that the files ask for. */
export interface Wanted {
  source: Source
  /** What it is recognised by, among others of its kind. */
  name: string
  /** The name as people see it, without values from the environment. */
  label: string
  renamedFrom: string | null
  /** Its fields, in the form of the API. */
  fields: Readonly<Record<string, unknown>>
}

/** What names are compared by: “ü” may be one character or two, depending on where a file was written. */
export const nameKey = (name: string): string => name.normalize('NFC')

/** A null list was not given, so the present entries stay. */
export interface WantedProbe extends Wanted {
  type: string
  maintenance: readonly Wanted[] | null
}
export interface WantedSite extends Wanted {
  autoProbes: boolean
  probes: readonly WantedProbe[] | null
  maintenance: readonly Wanted[] | null
}
export interface WantedClient extends Wanted {
  statusPage: { source: Source; entry: StatusPageEntry } | null
  channels: readonly Wanted[] | null
  maintenance: readonly Wanted[] | null
  sites: readonly WantedSite[] | null
}

const checkFile = checkerOf(FileOfClients)
const checkClient = checkerOf(ClientOfFile)

/**
 * The clients that the files ask for.
 *
 * @throws ConfigProblems naming every fault found
 */
export function wantedClients(files: readonly YamlFile[]): WantedClient[] {
  const problems: Problem[] = []
  const clients = files.flatMap((file) => clientsOf(file, problems))
  if (problems.length > 0) throw new ConfigProblems(problems)
  const faults = [...repeated('client', clients), ...clients.flatMap(faultsWithin)]
  if (faults.length > 0) throw new ConfigProblems(faults)
  return clients
}

function clientsOf(file: YamlFile, problems: Problem[]): WantedClient[] {
  const top = new Source(file, [])
  const faults = checkFile(file.value).map((fault) => problemOf(top, fault))
  problems.push(...faults)
  if (faults.length > 0) return []
  const { clients } = file.value as { clients: unknown[] }
  return clients.flatMap((client, index) => {
    const source = top.at('clients', index)
    const wrong = checkClient(client).map((fault) => problemOf(source, fault))
    problems.push(...wrong)
    return wrong.length > 0 ? [] : wantedClient(source, client as ClientEntry)
  })
}

/** The problem of a fault at the source or at a field below it. */
export function problemOf(source: Source, { path, message }: ErrorDetail): Problem {
  const steps = path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const parts = steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step))
  const field = steps.at(-1)
  const said = message.replace(/JSON object as its body$/, 'list of clients (clients:)')
  return source.at(...parts).problem(field === undefined || /^\d+$/.test(field) ? said : `${field} ${said}`)
}

function wantedClient(source: Source, entry: ClientEntry): WantedClient {
  const { name, renamed_from, status_page, channels, maintenance, sites, ...fields } = entry
  return {
    ...{ source, ...named(source, 'name', name), renamedFrom: renamed_from?.trim() ?? null, fields },
    statusPage: status_page === undefined ? null : { source: source.at('status_page'), entry: status_page },
    channels:
      channels?.map((channel, index) => plain(source.at('channels', index), 'name', channel.name, channel)) ?? null,
    maintenance: maintenanceOf(source, maintenance),
    sites: sites?.map((site, index) => wantedSite(source.at('sites', index), site)) ?? null,
  }
}

function wantedSite(source: Source, entry: SiteEntry): WantedSite {
  const { name, renamed_from, auto_probes = false, probes, maintenance, ...fields } = entry
  return {
    ...{ source, ...named(source, 'name', name), renamedFrom: renamed_from?.trim() ?? null },
    ...{ fields, autoProbes: auto_probes },
    probes: probes?.map((probe, index) => wantedProbe(source.at('probes', index), probe)) ?? null,
    maintenance: maintenanceOf(source, maintenance),
  }
}

function wantedProbe(source: Source, entry: ProbeEntry): WantedProbe {
  const { type, name = titleOf(type), renamed_from, maintenance, ...fields } = entry
  return {
    ...{ source, type, ...named(source, 'name', name), renamedFrom: renamed_from?.trim() ?? null, fields },
    maintenance: maintenanceOf(source, maintenance),
  }
}

const maintenanceOf = (source: Source, entries: readonly MaintenanceEntry[] | undefined): Wanted[] | null =>
  entries?.map((entry, index) => plain(source.at('maintenance', index), 'title', entry.title, entry)) ?? null

const plain = (source: Source, field: string, name: string, fields: Readonly<Record<string, unknown>>): Wanted => ({
  ...{ source, ...named(source, field, name), renamedFrom: null, fields },
})

const named = (source: Source, field: string, name: string): Pick<Wanted, 'name' | 'label'> => ({
  name: name.trim(),
  label: source.shown(field, name.trim()),
})

function faultsWithin({ channels, maintenance, sites }: WantedClient): Problem[] {
  return [
    ...repeated('channel', channels),
    ...repeated('maintenance', maintenance),
    ...repeated('site', sites),
    ...(sites ?? []).flatMap((site) => [
      ...repeated('probe', site.probes),
      ...repeated('maintenance', site.maintenance),
      ...(site.autoProbes && site.probes !== null
        ? [site.source.at('auto_probes').problem('auto_probes cannot be combined with probes: give one of the two')]
        : []),
      ...(site.probes ?? []).flatMap((probe) => repeated('maintenance', probe.maintenance)),
    ]),
  ]
}

/** Faults in a list whose entries are recognised by name. */
const repeated = (what: string, list: readonly Wanted[] | null): Problem[] => [
  ...sameNames(what, list),
  ...takenRenamings(what, list ?? []),
]

/** A problem for each entry that gives up a name which another entry has, because the next run could not tell which is which. */
function takenRenamings(what: string, list: readonly Wanted[]): Problem[] {
  const holders = Map.groupBy(
    list.flatMap((wanted) => [wanted.name, ...(isRenamed(wanted) ? [wanted.renamedFrom] : [])]),
    nameKey,
  )
  return list.flatMap((wanted) => {
    if (!isRenamed(wanted) || (holders.get(nameKey(wanted.renamedFrom)) ?? []).length < 2) return []
    const at = wanted.source.at('renamed_from')
    const earlier = wanted.source.shown('renamed_from', wanted.renamedFrom)
    return [at.problem(`another ${what} is or was called “${earlier}”: remove renamed_from, or the other ${what}`)]
  })
}

export const isRenamed = <W extends Wanted>(wanted: W): wanted is W & { renamedFrom: string } =>
  wanted.renamedFrom !== null && nameKey(wanted.renamedFrom) !== nameKey(wanted.name)

/** A problem for each entry whose name an earlier one has, because they could not be told apart. */
export function sameNames(what: string, list: readonly Wanted[] | null): Problem[] {
  const first = new Map<string, Wanted>()
  return (list ?? []).flatMap((wanted) => {
    const key = nameKey(wanted.name)
    const other = first.get(key)
    if (other === undefined) {
      first.set(key, wanted)
      return []
    }
    const { file, line } = other.source.place
    const hint = what === 'probe' ? ', or a name of its own' : ''
    const mend = what === 'user' ? 'name them once' : `give it another name${hint}`
    return [wanted.source.problem(`there is another ${what} “${wanted.label}” (${file}:${line}): ${mend}`)]
  })
}
