import { BLANK_SITE, checkClient, checkSite, OVERRIDES, TERMS } from '../../management/index.ts'
import { type FieldChange, Ref } from './change.ts'
import { differing, fieldChange } from './fields.ts'
import { requireRoomIn } from './plan-limits.ts'
import { planChannels, planMaintenance, planStatusPage } from './plan-of-client.ts'
import { planProbes } from './plan-probes.ts'
import { type People, planUsers } from './plan-users.ts'
import { type Owner, Planning } from './planning.ts'
import type { PresentClient, PresentSite } from './present.ts'
import { automaticProbes } from './probe-settings.ts'
import { ConfigProblems } from './problems.ts'
import type { Source, WantedClient, WantedSite } from './wanted.ts'

export type PlanOptions = ConstructorParameters<typeof Planning>[0] & { people: People }

export interface Plan {
  /** Changes of nested things come after those they depend on. */
  changes: Planning['changes']
  /** What the service has and no file names, without --prune. */
  kept: readonly string[]
}

/**
 * The changes that bring the service to the state in the files. Fields and lists that a file does not give stay as they are.
 *
 * @throws ConfigProblems for ambiguous names, types that cannot change and invalid settings
 */
export function planOf(wanted: readonly WantedClient[], present: readonly PresentClient[], options: PlanOptions): Plan {
  const planning = new Planning(options)
  if (options.prune && wanted.length === 0) {
    const message =
      'the files name no client, and --prune would delete all of them: delete them one by one if you mean it'
    throw new ConfigProblems([{ place: null, message }])
  }
  const { pairs, rest } = planning.match('client', wanted, present, ({ record }) => record.name)
  for (const pair of pairs) planClient(planning, pair.wanted, pair.present)
  for (const { record, sites } of rest) {
    if (!options.prune) planning.noteClient(record.name, new Ref(record.id))
    const path = `/api/clients/${record.id}`
    if (options.prune && options.caller.all !== 'owner' && !options.caller.owned.includes(record.id)) {
      const message = `only an owner of client “${record.name}” can delete it, and no file names it`
      planning.problems.push({ place: null, message })
    }
    planning.leave(
      `client “${record.name}”`,
      path,
      sites.length === 0 ? '' : `, with ${counted(sites.length)} and all that was counted`,
    )
  }
  planUsers(planning, options.people)
  if (planning.problems.length > 0) throw new ConfigProblems(planning.problems)
  const { changes, kept } = planning
  return { changes, kept }
}

const counted = (sites: number): string => `its ${sites === 1 ? 'site' : `${sites} sites`}`

function planClient(planning: Planning, wanted: WantedClient, present: PresentClient | null): void {
  const what = `client “${wanted.label}”`
  const { length: before } = planning.changes
  const ref = new Ref(present?.record.id ?? null)
  planning.noteClient(wanted.name, ref, wanted.label)
  const fields = { name: wanted.name, ...wanted.fields }
  const unset = { plan: planning.defaultPlan, quiet_from: null, quiet_to: null }
  planning.check(wanted.source, () => checkClient({ ...unset, ...present?.record, ...fields }, fields))
  if (present === null) {
    requireAll(planning, wanted.source, 'can create a client')
    planning.create({ what, stage: 'clients', source: wanted.source, ref, path: '/api/clients', body: () => fields })
  } else {
    const path = `/api/clients/${ref.id}`
    const names = differing(fields, { ...present.record })
    const term = TERMS.find((name) => names.includes(name))
    if (term !== undefined) requireAll(planning, wanted.source.at(term), `can change ${term} of a client`)
    planning.update({
      ...{ what, stage: 'clients', source: wanted.source, path, record: { ...present.record }, names },
      body: pick(fields, names),
      fields: [...changesOf(wanted, fields, present.record, names), ...clearedLimits(wanted, present.record)],
      read: () => planning.api.get(path),
      among: '/api/clients',
    })
  }
  const owner: Owner = { ref, name: `“${wanted.label}”`, scope: 'client_id' }
  planStatusPage(planning, owner, wanted, present?.statusPage ?? null)
  planChannels(planning, owner, wanted.channels, present?.channels ?? [])
  planMaintenance(planning, owner, wanted.maintenance, present?.maintenance ?? [])
  planSites(planning, owner, wanted.sites, present?.sites ?? [])
  requireRoomIn(planning, wanted, present, planning.changes.slice(before))
}

/** The service clears a client's own limits when its plan changes to one that allows none. */
function clearedLimits({ source, fields }: WantedClient, record: PresentClient['record']): FieldChange[] {
  const { plan } = fields
  if (plan === undefined || plan === 'enterprise' || record.plan !== 'enterprise') return []
  return OVERRIDES.filter((name) => record[name] !== null && !(name in fields)).map((name) =>
    fieldChange(name, record[name], null, source.at(name)),
  )
}

function requireAll({ caller, problems }: Planning, source: Source, may: string): void {
  if (caller.all === null) problems.push(source.problem(`only an editor of all clients ${may}`))
}

function planSites(
  planning: Planning,
  client: Owner,
  wanted: readonly WantedSite[] | null,
  present: readonly PresentSite[],
): void {
  if (wanted === null) return
  const { pairs, rest } = planning.match('site', wanted, present, ({ record }) => record.name)
  for (const pair of pairs) planSite(planning, client, pair.wanted, pair.present)
  for (const { record } of rest) {
    const what = `site “${record.name}” of ${client.name}`
    planning.leave(what, `/api/sites/${record.id}`, ', with all that was counted')
  }
}

function planSite(planning: Planning, client: Owner, wanted: WantedSite, present: PresentSite | null): void {
  const what = `site “${wanted.label}” of ${client.name}`
  const ref = new Ref(present?.record.id ?? null)
  const fields = { name: wanted.name, ...wanted.fields }
  const after = { ...BLANK_SITE, url: '', ...present?.record, ...fields }
  planning.check(wanted.source, () => checkSite(after))
  if (present === null) {
    const automatic = wanted.autoProbes ? automaticProbes(after) : []
    planning.create({
      ...{ what, creates: 'site', stage: 'of clients', source: wanted.source, ref, autoProbes: automatic.length },
      fields: automatic.length === 0 ? [] : [{ name: 'probes', before: 'none', after: automatic.join(', ') }],
      path: `/api/sites${wanted.autoProbes ? '?auto_probes=true' : ''}`,
      body: () => ({ client_id: client.ref.id, ...fields }),
    })
  } else {
    const path = `/api/sites/${ref.id}`
    const names = differing(fields, { ...present.record })
    planning.update({
      ...{ what, stage: 'of clients', source: wanted.source, path, record: { ...present.record }, names },
      body: pick(fields, names),
      fields: changesOf(wanted, fields, present.record, names),
      read: () => planning.api.get(path),
      among: `/api/sites?client_id=${client.ref.id}`,
    })
  }
  const owner: Owner = { ref, name: `“${wanted.label}” (${client.name})`, scope: 'site_id' }
  planMaintenance(planning, owner, wanted.maintenance, present?.maintenance ?? [])
  planProbes(planning, owner, after, wanted.probes, present?.probes ?? [])
}

const changesOf = (wanted: WantedClient | WantedSite, fields: object, record: object, names: readonly string[]) =>
  names.map((name) => fieldChange(name, Reflect.get(record, name), Reflect.get(fields, name), wanted.source.at(name)))

const pick = (fields: Readonly<Record<string, unknown>>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, fields[name]]))
