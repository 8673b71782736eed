import { type InvitedUser, MOST_USERS, type UserRecord } from '../../accounts/index.ts'
import { emailKey, type Grants, roleFor, suffices } from '../../http/index.ts'
import type { Ref } from './change.ts'
import { fieldChange } from './fields.ts'
import type { Planning } from './planning.ts'
import type { WantedRole, WantedUser } from './wanted-users.ts'

/** The people in the files and in the service. */
export interface People {
  /** Null when no file has a list of users. */
  wanted: readonly WantedUser[] | null
  present: readonly UserRecord[]
  /** Addresses of the person who applies the files, who must not lock themselves out. */
  callers: readonly string[]
}

/** A role with the name of its client; null means all clients. */
interface NamedRole {
  client: string | null
  role: string
}

/**
 * Plans accounts and their roles. People whose roles all come from groups are left to the identity provider or proxy. Invitations and
 * higher roles come before deletions and lower roles, so that an owner always remains.
 */
export function planUsers(planning: Planning, { wanted, present, callers }: People): void {
  if (wanted === null) return
  const { pairs, rest } = planning.match('user', wanted, present, ({ email }) => emailKey(email))
  const leaving = planning.prune ? rest.filter(({ roles }) => roles.length > 0) : []
  const { length: before } = planning.changes
  for (const pair of pairs) {
    if (pair.present === null) planInvitation(planning, pair.wanted)
    else planChange(planning, pair.wanted, pair.present, callers)
  }
  // Invitations come before deletions.
  const count = present.length + planning.changes.slice(before).filter(({ action }) => action === 'create').length
  if (count > Math.max(MOST_USERS, present.length)) {
    const message = `there would be ${count} accounts, and there can be ${MOST_USERS}: leave some out`
    planning.problems.push({ place: null, message })
  }
  for (const user of rest) {
    if (user.roles.length === 0) continue
    const what = `user “${user.email}”`
    if (planning.prune && isCaller(user, callers)) {
      const message = `${what} is the person who applies this, and is in no file: --prune would delete their own account; add it to a file`
      planning.problems.push({ place: null, message })
      continue
    }
    planning.leave(what, `/api/users/${user.id}`, ', and ends their sessions', 'fewer users')
  }
  requireOwner(
    planning,
    pairs,
    rest.filter((user) => !leaving.includes(user)),
    present,
  )
}

const isCaller = ({ email }: UserRecord, callers: readonly string[]): boolean =>
  callers.some((caller) => emailKey(caller) === emailKey(email))

function planInvitation(planning: Planning, { source, email, fields, roles }: WantedUser): void {
  const what = `user “${source.shown('email', email)}”`
  // Someone suspended who has no account needs none: creating it would send them an invitation.
  if (fields.is_active === false) return
  if (roles === null || roles.length === 0) {
    planning.problems.push(source.problem(`${what} has no account yet: an invited person needs a role`))
    return
  }
  const resolved = resolve(planning, roles)
  if (resolved === null) return
  const { name } = fields
  planning.add({
    ...{ action: 'create', stage: 'users', what: `${what}: ${inWords(planning, roles)}`, source, fields: [] },
    calls: () => [
      {
        method: 'POST',
        path: '/api/users',
        body: { email, ...(name === undefined ? {} : { name }), roles: resolved.map(entryOf) },
      },
    ],
    answered: (value) => {
      const { link } = value as InvitedUser
      if (link !== null) planning.onInvited?.(email, link)
    },
  })
}

function planChange(
  planning: Planning,
  { source, fields, roles }: WantedUser,
  user: UserRecord,
  callers: readonly string[],
): void {
  const what = `user “${source.shown('email', user.email)}”`
  const resolved = roles === null ? null : resolve(planning, roles)
  if (roles !== null && resolved === null) return
  const before = namedRoles(planning, user)
  const differs = {
    name: fields.name !== undefined && fields.name !== user.name,
    is_active: fields.is_active !== undefined && fields.is_active !== isActive(user),
    roles: roles !== null && inWords(planning, roles) !== inWords(planning, before),
  }
  if (!differs.name && !differs.is_active && !differs.roles) return
  const isLowered =
    (differs.is_active && fields.is_active === false) || (roles !== null && isLess(grantsOf(roles), grantsOf(before)))
  if (isLowered && isCaller(user, callers)) {
    planning.problems.push(
      source.problem(
        `${what} is the person who applies this, and it would take away their own roles; let another owner do it`,
      ),
    )
    return
  }
  const path = `/api/users/${user.id}`
  const seen = (found: UserRecord | undefined) =>
    found && [
      differs.name ? found.name : null,
      differs.is_active ? isActive(found) : null,
      differs.roles ? inWords(planning, namedRoles(planning, found)) : null,
    ]
  planning.add({
    ...{ action: 'update', stage: isLowered ? 'fewer users' : 'users', what, source },
    fields: [
      ...(differs.name ? [fieldChange('name', user.name, fields.name, source.at('name'))] : []),
      ...(differs.is_active
        ? [fieldChange('is_active', isActive(user), fields.is_active, source.at('is_active'))]
        : []),
      ...(differs.roles
        ? [
            {
              name: 'roles',
              before: inWords(planning, before) || 'none',
              after: inWords(planning, roles ?? []) || 'none',
            },
          ]
        : []),
    ],
    calls: () => [
      {
        method: 'PATCH',
        path,
        body: {
          ...(differs.name ? { name: fields.name } : {}),
          ...(differs.is_active ? { is_active: fields.is_active } : {}),
          ...(differs.roles ? { roles: resolved?.map(entryOf) } : {}),
        },
      },
    ],
    recheck: {
      basis: seen(user),
      read: async () => seen((await planning.api.get<UserRecord[]>('/api/users')).find(({ id }) => id === user.id)),
    },
  })
}

const isActive = ({ status }: UserRecord): boolean => status !== 'disabled'

interface ResolvedRole {
  ref: Ref | null
  role: string
}

const entryOf = ({ ref, role }: ResolvedRole) => ({ client_id: ref?.id ?? null, role })

/** @returns null when a client is unknown or ambiguous, which is noted as a problem */
function resolve(planning: Planning, roles: readonly WantedRole[]): ResolvedRole[] | null {
  const resolved = roles.flatMap(({ source, client, role }): ResolvedRole[] => {
    if (client === null) return [{ ref: null, role }]
    const refs = planning.clients.get(client) ?? []
    const [ref] = refs
    if (ref !== undefined && refs.length === 1) return [{ ref, role }]
    const shown = source.shown('client', client)
    planning.problems.push(
      source.problem(
        refs.length === 0
          ? `there is no client “${shown}”`
          : `the service has ${refs.length} clients with the name “${shown}”: rename one there`,
      ),
    )
    return []
  })
  return resolved.length === roles.length ? resolved : null
}

/** A user's roles by the clients' names after the files are applied, without roles at clients that are deleted then. */
function namedRoles(planning: Planning, { roles }: Pick<UserRecord, 'roles'>): NamedRole[] {
  const names = new Map<string, string>()
  for (const [name, refs] of planning.clients) for (const ref of refs) if (ref.isKnown) names.set(ref.id, name)
  return roles.flatMap(({ client_id, role }) => {
    const client = client_id === null ? null : names.get(client_id)
    return client === undefined ? [] : [{ client, role }]
  })
}

const inWords = (planning: Planning, roles: readonly NamedRole[]): string =>
  roles
    .map(({ client, role }) => `${role} of ${client === null ? 'all clients' : `“${planning.labelOf(client)}”`}`)
    .sort()
    .join(', ')

const grantsOf = (roles: readonly NamedRole[]): Grants => ({
  all: asRole(roles.find(({ client }) => client === null)?.role),
  clients: new Map(
    roles.flatMap(({ client, role }) => {
      const known = asRole(role)
      return client === null || known === null ? [] : [[client, known] as const]
    }),
  ),
})

const asRole = (role: string | undefined): Grants['all'] =>
  role === 'viewer' || role === 'editor' || role === 'owner' ? role : null

/** Whether any role is lower than before. */
function isLess(after: Grants, before: Grants): boolean {
  const of = [null, ...before.clients.keys()]
  return of.some((client) => {
    const had = roleFor(before, client)
    return had !== null && !suffices(roleFor(after, client), had)
  })
}

/** Notes a problem when no owner of all clients would be left, before anything changes. Owners by a group count, as in the service. */
function requireOwner(
  planning: Planning,
  pairs: readonly { wanted: WantedUser; present: UserRecord | null }[],
  kept: readonly UserRecord[],
  present: readonly UserRecord[],
): void {
  const owners = present.filter((user) => isActive(user) && ownsAll(user.roles))
  if (owners.length === 0) return
  const left = [
    ...kept.filter((user) => isActive(user) && ownsAll([...user.roles, ...user.group_roles])),
    ...pairs
      .filter(({ wanted: { fields, roles }, present: user }) => {
        const isIn = fields.is_active ?? (user === null || isActive(user))
        const byHand = roles === null ? (user?.roles ?? []) : entriesOf(roles)
        return isIn === true && ownsAll([...byHand, ...(user?.group_roles ?? [])])
      })
      .map(({ present: user }) => user),
  ]
  // The service does not count someone who has only been invited, unless there is no one else now.
  if (left.some(hasAccepted) || (left.length > 0 && !owners.some(hasAccepted))) return
  const who = left.length === 0 ? '' : ' who has accepted the invitation'
  const message = `no owner of all clients${who} would be left: name one in the files (all_clients: true, role: owner)`
  planning.problems.push({ place: null, message })
}

const hasAccepted = (user: UserRecord | null): boolean => user !== null && (user.has_password || user.single_sign_on)

const ownsAll = (roles: UserRecord['roles']): boolean =>
  roles.some(({ client_id, role }) => client_id === null && role === 'owner')

/** The roles for all clients, in the form of the API. */
const entriesOf = (roles: readonly WantedRole[]): UserRecord['roles'] =>
  roles.flatMap(({ client, role }) => (client === null ? [{ client_id: null, role }] : []))
