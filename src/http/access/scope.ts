import type { FastifyRequest, RouteOptions } from 'fastify'
import { AppError, isObject, newId } from '../../lib/index.ts'
import type { HttpApp } from '../schemas.ts'
import type { Access } from './access.ts'
import { type ClientRole, highestRole, narrowed, roleFor, suffices } from './grants.ts'

/** Fields in paths, queries and bodies with ids of things that belong to clients. */
const OWNED = {
  client_id: 'client',
  client_ids: 'client',
  site_id: 'site',
  probe_id: 'probe',
  alert_id: 'alert',
  incident_id: 'incident',
  silence_id: 'silence',
  maintenance_id: 'maintenance',
  delivery_id: 'delivery',
  annotation_id: 'annotation',
} as const
export type OwnedKind = (typeof OWNED)[keyof typeof OWNED]

/**
 * Ids that handlers look up only among the caller's own things: below the client or site that the path names first, or among what
 * the corresponding list shows.
 */
const FOUND_WITHIN: readonly string[] = [
  'after',
  'channel_id',
  'digest_opt_out_id',
  'entity_id',
  'key_id',
  'override_id',
  'person_id',
  'session_id',
  'special_days_id',
  'subscriber_id',
  'token_id',
  'user_id',
  'view_id',
]

/** Returns the client that each existing id belongs to; null for one that belongs to no single client. */
export type OwnersOf = (kind: OwnedKind, ids: readonly string[]) => Promise<ReadonlyMap<string, string | null>>

type Part = 'params' | 'query' | 'body'

interface OwnedField {
  part: Part
  name: string
  kind: OwnedKind
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The lowest role that may call it. Default: `viewer` for reading, `editor` for changing. */
    needs?: ClientRole
    /**
     * Whose things the route shows or changes. Not needed where the path names something of a client. `named`: those that its
     * body or query names. `visible`: a list that the handler restricts to `visibleTo`. `service`: the whole service, which takes
     * a role for all clients. `anyone`: the same for all callers.
     */
    scope?: 'named' | 'visible' | 'service' | 'anyone'
    /** Where the route's ids are; determined when the route is added. */
    owned?: readonly OwnedField[]
  }
}

/**
 * Restricts every route under `/api` to what its caller may see. An id of another client is replaced by one that no row has
 * before the handler sees it, so the answer is identical to that for an unknown id.
 *
 * @throws Error when a route is added that does not declare whose things it is about
 */
export function scopeApi(app: HttpApp, ownersOf: OwnersOf): void {
  app.addHook('onRoute', (route) => {
    // Only the documentation is hidden. It is public, but its plugin declares that only later.
    if (!route.url.startsWith('/api/') || route.config?.access === 'public' || route.schema?.hide === true) return
    route.config = { ...route.config, owned: ownedFields(route) }
  })
  app.addHook('preHandler', async (request) => {
    const { owned } = request.routeOptions.config
    // With a role only for all clients, each of them has the same role.
    if (owned === undefined || owned.length === 0 || request.access.grants.clients.size === 0) return
    request.access = await scoped(request, owned, ownersOf)
  })
}

/** @throws AppError `forbidden` when the caller may see what the request names, but not do this with it */
async function scoped(request: FastifyRequest, owned: readonly OwnedField[], ownersOf: OwnersOf): Promise<Access> {
  const { access } = request
  const needed = neededRole(request)
  const clients: (string | null)[] = []
  for (const { part, name, kind } of owned) {
    const fields: unknown = request[part]
    if (!isObject(fields)) continue
    const value = fields[name]
    const ids = (Array.isArray(value) ? value : [value]).filter((id) => typeof id === 'string')
    if (ids.length === 0) continue
    const owners = await ownersOf(kind, ids)
    const seen = (id: string): string => {
      const owner = owners.get(id)
      if (owner === undefined) return id
      const role = roleFor(access.grants, owner)
      if (role === null) return newId()
      if (!suffices(role, needed)) throw refusal(access)
      clients.push(owner)
      return id
    }
    fields[name] = Array.isArray(value) ? ids.map(seen) : seen(ids.join())
  }
  return clients.length === 0
    ? access
    : { ...access, grants: narrowed(access.grants, clients), allGrants: access.grants }
}

/** @throws AppError `forbidden` when the caller may do this with nothing at all */
export function requireRole(access: Access, request: FastifyRequest): void {
  const needed = neededRole(request)
  if (request.routeOptions.config.scope === 'service') {
    if (suffices(access.grants.all, needed)) return
    if (suffices(access.grants.all, 'viewer')) throw refusal(access)
    throw new AppError('forbidden', 'This is about the whole service: it needs a role for all clients')
  }
  // Someone without a role still manages their own account.
  if (request.routeOptions.config.scope === 'anyone' && needed === 'viewer') return
  if (!suffices(highestRole(access.grants), needed)) throw refusal(access)
}

const neededRole = ({ method, routeOptions: { config } }: FastifyRequest): ClientRole =>
  config.needs ?? (changesState(method) ? 'editor' : 'viewer')

function refusal({ role, grants }: Access): AppError {
  const highest = highestRole(grants)
  if (highest === null) return new AppError('forbidden', 'This account has no role yet: ask an owner for one')
  if (role === 'viewer') return new AppError('forbidden', 'This key is read-only')
  return new AppError('forbidden', `Your role does not allow this: ask an owner of the client`)
}

const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export const changesState = (method: string): boolean => !SAFE_METHODS.has(method)

/** The fields of a route that take ids of clients' things. @throws Error when the schema does not make clear whose they are */
function ownedFields({ method, url, schema, config }: RouteOptions): OwnedField[] {
  const owned: OwnedField[] = []
  const schemas = { params: schema?.params, query: schema?.querystring, body: schema?.body }
  for (const [part, fields] of Object.entries(schemas) as [Part, unknown][]) {
    for (const [name, field] of Object.entries(propertiesOf(fields))) {
      if (name in OWNED) owned.push({ part, name, kind: OWNED[name as keyof typeof OWNED] })
      else if (isId(field) && config?.scope !== 'anyone' && !FOUND_WITHIN.includes(name)) {
        throw new Error(
          `${method} ${url}: ${name} is an id, and src/http/access/scope.ts does not know which client it belongs to`,
        )
      }
    }
  }
  if (config?.scope === undefined && !owned.some(({ part }) => part === 'params')) {
    throw new Error(
      `${method} ${url}: its path names nothing that belongs to a client, so its config must give its scope`,
    )
  }
  return owned
}

function propertiesOf(schema: unknown): Record<string, unknown> {
  return isObject(schema) && isObject(schema.properties) ? schema.properties : {}
}

const isId = (field: unknown): boolean =>
  isObject(field) && (field.format === 'uuid' || (isObject(field.items) && field.items.format === 'uuid'))
