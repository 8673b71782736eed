import { type Static, Type } from 'typebox'
import { InviteUser, UpdateUser } from '../../accounts/index.ts'
import { CreateMaintenance, UpdateMaintenance } from '../../alerts/index.ts'
import { CLIENT_ROLES, checkerOf, EXPECTS } from '../../http/index.ts'
import { isObject } from '../../lib/index.ts'
import { Name, UpdateClient, UpdateSite, UpdateStatusLooks } from '../../management/index.ts'
import { CreateOwnChannel } from '../../notifications/index.ts'
import { PROBE_TYPES, type ProbeType, UpdateProbe } from '../../probes/index.ts'

/** The schema of configuration files. Their fields are those of the API, so that one description serves both. */

const closed = { additionalProperties: false } as const

const RenamedFrom = Type.Optional(
  Type.String({ ...Name, description: 'Previous name: the entry is renamed and keeps its history' }),
)

const MaintenanceEntry = Type.Object(
  { ...UpdateMaintenance.properties, title: Name, kind: CreateMaintenance.properties.kind },
  { ...closed, description: 'Planned work, identified by its title' },
)
const Maintenance = Type.Optional(Type.Array(MaintenanceEntry))

const ProbeEntry = Type.Object(
  {
    type: Type.Enum(PROBE_TYPES.map(({ name }) => name)),
    ...UpdateProbe.properties,
    name: Type.Optional(Type.String({ ...Name, description: "The type's title by default" })),
    renamed_from: RenamedFrom,
    maintenance: Maintenance,
  },
  closed,
)

const SiteEntry = Type.Object(
  {
    ...UpdateSite.properties,
    name: Name,
    url: UpdateSite.properties.url,
    renamed_from: RenamedFrom,
    auto_probes: Type.Optional(
      Type.Boolean({ description: 'Whether a new site gets the probes that fit it; instead of `probes`' }),
    ),
    probes: Type.Optional(Type.Array(ProbeEntry)),
    maintenance: Maintenance,
  },
  { ...closed, required: ['name', 'url'] },
)

const StatusPage = Type.Object(
  {
    shared: Type.Optional(
      Type.Boolean({ description: 'Whether there is a link. `false` revokes it; a new link has a different address' }),
    ),
    accent: UpdateStatusLooks.properties.accent,
    logo: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        minLength: 1,
        description: 'Path of a PNG, JPEG or WebP, relative to the folder of this file',
      }),
    ),
  },
  closed,
)

const ClientEntry = Type.Object(
  {
    ...UpdateClient.properties,
    name: Name,
    renamed_from: RenamedFrom,
    status_page: Type.Optional(StatusPage),
    channels: Type.Optional(Type.Array(CreateOwnChannel)),
    maintenance: Maintenance,
    sites: Type.Optional(Type.Array(SiteEntry)),
  },
  closed,
)

const RoleOfUser = Type.Object(
  {
    client: Type.Optional(Type.String({ ...Name, description: 'Its name; or `all_clients`' })),
    all_clients: Type.Optional(Type.Literal(true, { description: 'Every client and the service itself' })),
    role: Type.Enum([...CLIENT_ROLES]),
  },
  closed,
)

const UserEntry = Type.Object(
  {
    email: InviteUser.properties.email,
    name: UpdateUser.properties.name,
    is_active: UpdateUser.properties.is_active,
    roles: Type.Optional(
      Type.Array(RoleOfUser, {
        maxItems: 1_000,
        description: 'Replaces the roles that people gave the person, but not those from groups',
      }),
    ),
  },
  { ...closed, description: 'A person with an account, identified by the address' },
)

/** The outer level of a file. Each client and user is checked separately, so that one's faults do not hide those of others. */
export const FileOfClients = Type.Object(
  {
    clients: Type.Array(Type.Object({}, { additionalProperties: true })),
    users: Type.Optional(Type.Array(Type.Object({}, { additionalProperties: true }))),
  },
  closed,
)
export const ClientOfFile = ClientEntry
export const UserOfFile = UserEntry

export type ClientEntry = Static<typeof ClientEntry>
export type UserEntry = Static<typeof UserEntry>
export type SiteEntry = Static<typeof SiteEntry>
export type ProbeEntry = Static<typeof ProbeEntry>
export type MaintenanceEntry = Static<typeof MaintenanceEntry>
export type StatusPageEntry = Static<typeof StatusPage>

/** The schema of a text that names an environment variable. */
const PLACEHOLDER = { type: 'string', pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' }

/** The JSON Schema of a file for editors. It knows the settings of each probe type and accepts `${NAME}` for any text. */
export function editorSchema(): object {
  const file = Type.Object({ clients: Type.Array(ClientEntry), users: Type.Optional(Type.Array(UserEntry)) }, closed)
  const plain = JSON.parse(JSON.stringify(file)) as PlainFile
  const { probes } = plain.properties.clients.items.properties.sites.items.properties
  probes.items.allOf = PROBE_TYPES.map(({ name, config }) =>
    Object.fromEntries([
      ['if', { type: 'object', properties: { type: { const: name } }, required: ['type'] }],
      ['then', { properties: { config: settingsOf(config) } }],
    ]),
  )
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Tagwarden configuration',
    description: 'The format that `tagwarden apply` reads and `tagwarden export` writes.',
    ...Object(withPlaceholders(plain)),
  }
}

/** The path down to the probes. */
interface PlainFile {
  properties: {
    clients: {
      items: { properties: { sites: { items: { properties: { probes: { items: { allOf?: object[] } } } } } } }
    }
  }
}

/** The settings of a probe type. None is required, because the probe may exist already, and null resets one to its default. */
function settingsOf({ properties }: ProbeType['config']): object {
  const settings = Object.entries(properties).map(([name, schema]) => [
    name,
    { anyOf: [JSON.parse(JSON.stringify(schema)), { type: 'null' }] },
  ])
  return { type: 'object', properties: Object.fromEntries(settings), ...closed }
}

function withPlaceholders(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withPlaceholders)
  if (!isObject(schema)) return schema
  const { [EXPECTS]: _words, ...copy } = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, withPlaceholders(value)]),
  )
  const isText = copy.type === 'string' || (Array.isArray(copy.type) && copy.type.includes('string'))
  if (!isText || copy.enum !== undefined || takesPlaceholders(copy)) return copy
  const { description, ...text } = copy
  return { anyOf: [text, PLACEHOLDER], ...(description === undefined ? {} : { description }) }
}

const takesPlaceholders = ({ pattern, minLength = 0 }: { pattern?: unknown; minLength?: unknown }): boolean =>
  (pattern === undefined || checkerOf({ type: 'string', pattern })(`\${NAME}`).length === 0) &&
  Number(minLength) <= `\${N}`.length
