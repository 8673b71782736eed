import type { UserRecord } from '../../accounts/index.ts'
import { type MaintenanceRecord, UpdateMaintenance } from '../../alerts/index.ts'
import { fileNamePart, isObject } from '../../lib/index.ts'
import { UpdateClient, UpdateSite } from '../../management/index.ts'
import type { OwnChannelRecord } from '../../notifications/index.ts'
import { UpdateProbe } from '../../probes/index.ts'
import { canonical } from './fields.ts'
import type { PresentClient, PresentProbe, PresentSite, PresentStatusPage } from './present.ts'
import { usualInterval, usualSetting } from './probe-settings.ts'
import { withoutVariables } from './variables.ts'

type Fields = Readonly<Record<string, unknown>>

/** Gives out unique names of variables that stand for secrets. */
export class Placeholders {
  readonly #names = new Set<string>()

  get names(): readonly string[] {
    return [...this.#names]
  }

  /** The placeholder `${NAME}` of a secret. @param parts names of its owners, from the client down, and of its field */
  for(...parts: readonly string[]): string {
    const words = parts.map((part) => fileNamePart(part, 'x').replaceAll('-', '_').toUpperCase()).join('_')
    const base = /^\d/.test(words) ? `_${words}` : words
    let name = base
    for (let count = 2; this.#names.has(name); count++) name = `${base}_${count}`
    this.#names.add(name)
    return `\${${name}}`
  }
}

/**
 * A client in the form of a file: without default values, and with placeholders for secrets.
 *
 * @param logos paths of the logo files by client id
 */
export function exported(
  { record, statusPage, channels, maintenance, sites }: PresentClient,
  placeholders: Placeholders,
  logos: ReadonlyMap<string, string>,
): Fields {
  const { name } = record
  const fields = settable(record, UpdateClient.properties, ['name', 'plan'])
  const page = pageOf(statusPage, logos.get(record.id))
  return {
    ...fields,
    ...(record.chat_webhook === null ? {} : { chat_webhook: placeholders.for(name, 'chat_webhook') }),
    ...(Object.keys(page).length === 0 ? {} : { status_page: page }),
    ...listed(
      'channels',
      (channels ?? []).map((channel) => channelOf(name, channel, placeholders)),
    ),
    ...listed('maintenance', maintenance.map(workOf)),
    ...listed(
      'sites',
      sites.map((site) => siteOf(name, site, placeholders)),
    ),
  }
}

/** The people with a role assigned by hand. Roles from groups belong to the identity provider, so others are left out. */
export function exportedUsers(users: readonly UserRecord[], clients: readonly PresentClient[]): Fields[] {
  const names = new Map(clients.map(({ record }) => [record.id, record.name]))
  return users
    .filter(({ roles }) => roles.length > 0)
    .map(({ email, name, status, roles }) => ({
      email: withoutVariables(email),
      name: withoutVariables(name),
      ...(status === 'disabled' ? { is_active: false } : {}),
      roles: roles.map(({ client_id, role }) =>
        client_id === null
          ? { all_clients: true, role }
          : { client: withoutVariables(names.get(client_id) ?? ''), role },
      ),
    }))
}

function pageOf(page: PresentStatusPage | null, logo: string | undefined): Fields {
  return {
    ...(page?.link.is_active === true ? { shared: true } : {}),
    ...(page?.looks.accent == null ? {} : { accent: page.looks.accent }),
    ...(logo === undefined ? {} : { logo }),
  }
}

function channelOf(client: string, channel: OwnChannelRecord, placeholders: Placeholders): Fields {
  const { kind, name, address, endpoint, has_secret, minimum_severity, warnings_after_minutes, is_active } = channel
  return {
    ...{ kind, name: withoutVariables(name) },
    address:
      kind === 'email' && address !== null ? withoutVariables(address) : placeholders.for(client, name, 'address'),
    ...(has_secret ? { secret: placeholders.for(client, name, 'secret') } : {}),
    ...(endpoint === null ? {} : { endpoint: withoutVariables(endpoint) }),
    ...(minimum_severity === 'warning' ? {} : { minimum_severity }),
    ...(warnings_after_minutes === null ? {} : { warnings_after_minutes }),
    ...(is_active ? {} : { is_active }),
  }
}

const workOf = (record: MaintenanceRecord): Fields => ({
  title: withoutVariables(record.title),
  kind: record.kind,
  ...settable(record, UpdateMaintenance.properties, []),
})

function siteOf(client: string, { record, probes, maintenance }: PresentSite, placeholders: Placeholders): Fields {
  return {
    ...settable(record, UpdateSite.properties, ['name', 'url']),
    ...listed(
      'probes',
      probes.map((probe) => probeOf([client, record.name], probe, placeholders)),
    ),
    ...listed('maintenance', maintenance.map(workOf)),
  }
}

function probeOf(owners: readonly string[], { record, maintenance }: PresentProbe, placeholders: Placeholders): Fields {
  const { probe_type: type, name, secrets_set } = record
  const { config: _all, interval_seconds, ...fields } = settable(record, UpdateProbe.properties, ['name'])
  const config = Object.fromEntries([
    ...Object.entries(record.config)
      .filter(([setting, value]) => canonical(value) !== canonical(usualSetting(type, setting)))
      .map(([setting, value]) => [setting, escaped(value)]),
    ...secrets_set.map((setting) => [setting, placeholders.for(...owners, name, setting)]),
  ])
  return {
    type,
    ...fields,
    ...(interval_seconds === usualInterval(type) ? {} : { interval_seconds }),
    ...(Object.keys(config).length === 0 ? {} : { config }),
    ...listed('maintenance', maintenance.map(workOf)),
  }
}

const listed = (name: string, entries: readonly Fields[]): Fields => (entries.length === 0 ? {} : { [name]: entries })

/** The settable fields that differ from their default, and those in `always`, which identify the record. */
function settable(record: Fields, properties: Readonly<Record<string, object>>, always: readonly string[]): Fields {
  const names = Object.keys(properties).filter((name) => {
    const value = record[name]
    if (always.includes(name)) return true
    if (value === null || value === undefined) return false
    const schema = properties[name] ?? {}
    const usual = 'default' in schema ? schema.default : name === 'is_active' ? true : undefined
    return canonical(value) !== canonical(usual)
  })
  return Object.fromEntries(names.map((name) => [name, escaped(record[name])]))
}

function escaped(value: unknown): unknown {
  if (typeof value === 'string') return withoutVariables(value)
  if (Array.isArray(value)) return value.map(escaped)
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, escaped(each)])) : value
}
