import { checkMaintenance, type MaintenanceRecord, type UpdateMaintenance } from '../../alerts/index.ts'
import { fingerprintOf, quoted } from '../../lib/index.ts'
import { checkedLooks, keptLogo, logoFingerprint, type UpdateStatusLooks } from '../../management/index.ts'
import { addressIn, type CreateOwnChannel, checkWait, type OwnChannelRecord } from '../../notifications/index.ts'
import { type Call, type FieldChange, Ref } from './change.ts'
import { differing, fieldChange } from './fields.ts'
import type { Owner, Planning } from './planning.ts'
import { isOver, type PresentStatusPage, readChannels, readStatusPage } from './present.ts'
import type { Wanted, WantedClient } from './wanted.ts'

/** Plans a client's own channels, not those that are fields of the client. Address, secret and endpoint change together. */
export function planChannels(
  planning: Planning,
  client: Owner,
  wanted: readonly Wanted[] | null,
  present: readonly OwnChannelRecord[],
): void {
  if (wanted === null) return
  const { pairs, rest } = planning.match('channel', wanted, present, ({ name }) => name)
  for (const pair of pairs) planChannel(planning, client, pair.wanted, pair.present)
  for (const { id, name } of rest) {
    planning.leave(`channel “${name}” of ${client.name}`, `/api/clients/${client.ref.id}/channels/${id}`)
  }
}

function planChannel(planning: Planning, client: Owner, wanted: Wanted, present: OwnChannelRecord | null): void {
  const { source, name, label } = wanted
  const what = `channel “${label}” of ${client.name}`
  const fields = wanted.fields as CreateOwnChannel
  const stored = planning.check(source, () => {
    checkWait(fields.kind, fields.warnings_after_minutes ?? null)
    return addressIn(fields.kind, fields)
  })
  if (stored === null) return
  if (present === null) {
    planning.add({
      ...{ action: 'create', creates: 'channel', stage: 'of clients', what, fields: [], source },
      calls: () => [
        { method: 'POST', path: `/api/clients/${client.ref.id}/channels`, body: { ...fields, name }, onlyNew: true },
      ],
    })
    return
  }
  if (fields.kind !== present.kind) {
    planning.problems.push(
      source.at('kind').problem(`${what} is of kind ${present.kind}, which cannot change: give it another name`),
    )
    return
  }
  const { kind: _same, address, secret = null, endpoint = null, ...others } = fields
  const names = differing({ ...others, name }, { ...present })
  const isAnother = fingerprintOf(present.id, stored) !== present.fingerprint
  const changes = names.map((field): FieldChange => {
    return fieldChange(field, Reflect.get(present, field), Reflect.get(others, field), source.at(field))
  })
  if (isAnother) changes.push(fieldChange('address', present.address, address, source.at('address')))
  const path = `/api/clients/${client.ref.id}/channels/${present.id}`
  planning.update({
    ...{ what, stage: 'of clients', source, path, record: { ...present } },
    names: [...names, 'fingerprint'],
    body: {
      ...Object.fromEntries(names.map((field) => [field, Reflect.get(others, field)])),
      ...(isAnother ? { address, secret, endpoint } : {}),
    },
    fields: changes,
    read: async () => {
      const channels = await readChannels(planning.api, client.ref.id)
      const found = channels.find(({ id }) => id === present.id)
      return found && { ...found }
    },
  })
}

/** Plans maintenance. Maintenance that is over is not created. */
export function planMaintenance(
  planning: Planning,
  owner: Owner,
  wanted: readonly Wanted[] | null,
  present: readonly MaintenanceRecord[],
): void {
  if (wanted === null) return
  const { pairs, rest } = planning.match('maintenance', wanted, present, ({ title }) => title)
  for (const pair of pairs) planWork(planning, owner, pair.wanted, pair.present)
  for (const { id, title } of rest) {
    planning.leave(`maintenance ${quoted(title)} of ${owner.name}`, `/api/maintenance/${id}`)
  }
}

function planWork(planning: Planning, owner: Owner, wanted: Wanted, present: MaintenanceRecord | null): void {
  const { source, name, label } = wanted
  const what = `maintenance ${quoted(label)} of ${owner.name}`
  const { kind, title: _untrimmed, ...others } = wanted.fields
  const { ends_at } = others
  if (present === null) {
    if (isOver({ kind: String(kind), ends_at: typeof ends_at === 'string' ? ends_at : null }, planning.now)) return
    checkWork(planning, wanted, others)
    planning.create({
      ...{ what, creates: 'maintenance', stage: 'maintenance', source, ref: new Ref(null), path: '/api/maintenance' },
      body: () => ({ ...wanted.fields, [owner.scope]: owner.ref.id }),
    })
    return
  }
  if (kind !== present.kind) {
    planning.problems.push(
      source.at('kind').problem(`${what} is ${present.kind}, which cannot change: give it another title`),
    )
    return
  }
  const names = differing({ ...wanted.fields, title: name }, { ...present })
  const given = Object.entries(present).filter(([field, value]) => SCHEDULE.includes(field) && value !== null)
  checkWork(planning, wanted, { ...Object.fromEntries(given), ...others })
  planning.update({
    ...{ what, stage: 'maintenance', source, path: `/api/maintenance/${present.id}`, record: { ...present }, names },
    body: Object.fromEntries(names.map((field) => [field, wanted.fields[field]])),
    fields: names.map((field) =>
      fieldChange(field, Reflect.get(present, field), wanted.fields[field], source.at(field)),
    ),
    read: async () => {
      const all = await planning.api.list<MaintenanceRecord>('/api/maintenance')
      const found = all.find(({ id }) => id === present.id)
      return found && { ...found }
    },
  })
}

const SCHEDULE = ['starts_at', 'ends_at', 'weekdays', 'start', 'duration_minutes', 'timezone']

/** @param fields all that it has afterwards */
function checkWork(planning: Planning, { source, fields: { kind } }: Wanted, fields: UpdateMaintenance): void {
  planning.check(source, () => checkMaintenance(kind === 'once' ? kind : 'weekly', fields))
}

/** Plans the looks of a client's status page and whether it has a link. */
export function planStatusPage(
  planning: Planning,
  client: Owner,
  { statusPage }: WantedClient,
  present: PresentStatusPage | null,
): void {
  if (statusPage === null) return
  const { source, entry } = statusPage
  const logo = planning.logoOf(source)
  const { shared = null, accent } = entry
  const isShared = present?.link.is_active ?? false
  const looks = present?.looks ?? { accent: null, logo: null }
  const changes: FieldChange[] = []
  const body: UpdateStatusLooks = {}
  if (shared !== null && shared !== isShared) {
    changes.push(fieldChange('shared', isShared, shared, source.at('shared')))
  }
  if (accent !== undefined && accent !== looks.accent) {
    changes.push(fieldChange('accent', looks.accent, accent, source.at('accent')))
    body.accent = accent
  }
  if (logo !== undefined && (logo === null ? null : logoFingerprint(keptLogo(logo))) !== looks.logo) {
    changes.push(fieldChange('logo', looks.logo, entry.logo, source.at('logo')))
    body.logo = logo
  }
  planning.check(source, () => checkedLooks(body))
  if (changes.length === 0) return
  const path = () => `/api/clients/${client.ref.id}`
  const link = (): Call[] =>
    shared === null || shared === isShared
      ? []
      : [{ method: shared ? 'POST' : 'DELETE', path: `${path()}/status-link` }]
  planning.add({
    ...{ action: 'update', stage: 'of clients', what: `status page of ${client.name}`, fields: changes, source },
    calls: () => [
      ...(Object.keys(body).length === 0 ? [] : [{ method: 'PATCH', path: `${path()}/status-page`, body } as const]),
      ...link(),
    ],
    ...(present === null
      ? {}
      : {
          recheck: {
            basis: { ...looks, isShared },
            read: async () => {
              const now = await readStatusPage(planning.api, client.ref.id)
              return { ...now.looks, isShared: now.link.is_active }
            },
          },
        }),
  })
}
