import { type Static, Type } from 'typebox'
import type { Grants } from '../http/index.ts'
import { CLIENT_ROLES, EXPECTS, IsoTime, model, nullable, Uuid } from '../http/index.ts'
import { isoTime, isoTimeOrNull } from '../lib/index.ts'
import { ONE_LINE } from '../management/index.ts'
import type { UserRow } from '../store/index.ts'
import { entriesOf } from './roles.ts'
import { isInvited, type Ways } from './ways.ts'

const MOST_ROLES = 1_000

export const UserName = Type.String({ ...ONE_LINE, minLength: 1, maxLength: 100 })
/** A single address: messages to a client may go to several, but a person has one. */
export const UserEmail = Type.String({ format: 'email', maxLength: 254 })

const RoleEntry = Type.Object(
  {
    client_id: nullable(
      Type.Unsafe<string>({
        ...Uuid,
        [EXPECTS]: 'the id of a client, or null for all of them',
        description: 'null: every client and the service itself',
      }),
    ),
    role: Type.Enum([...CLIENT_ROLES]),
  },
  { title: 'RoleOfClient', additionalProperties: false },
)
const Roles = Type.Array(RoleEntry, { maxItems: MOST_ROLES })

export const UserRecord = model('User', {
  id: Uuid,
  email: Type.String(),
  name: Type.String(),
  status: Type.Enum(['invited', 'active', 'disabled']),
  roles: Type.Unsafe<Static<typeof Roles>>({ ...Roles, description: 'The roles that the caller manages' }),
  group_roles: Type.Unsafe<Static<typeof Roles>>({
    ...Roles,
    description:
      'The roles that groups of the identity provider gave at the last sign-in, as far as the caller manages them; they apply to sessions that began there',
  }),
  has_password: Type.Boolean(),
  single_sign_on: Type.Boolean({ description: 'Whether the person has signed in with the identity provider' }),
  two_step: Type.Boolean({ description: 'Whether signing in with a password also requires a code' }),
  created_at: IsoTime,
  created_by: Type.String({ description: 'Who invited the person, as in the audit log' }),
  last_sign_in_at: nullable(IsoTime),
})
export type UserRecord = Static<typeof UserRecord>

export const PasswordLink = model('PasswordLink', {
  url: Type.String({ description: 'Address of a page that sets the password; works once, and is shown only here' }),
  expires_at: IsoTime,
  mailed: Type.Boolean({ description: 'Whether it was also sent by e-mail' }),
})
export type PasswordLink = Static<typeof PasswordLink>

export const InvitedUser = model('InvitedUser', {
  ...UserRecord.properties,
  link: Type.Union([PasswordLink, Type.Null({ description: 'null: the person has already set a password' })]),
})
export type InvitedUser = Static<typeof InvitedUser>

export const InviteUser = Type.Object(
  {
    email: UserEmail,
    name: Type.Optional(UserName),
    roles: Type.Unsafe<Static<typeof Roles>>({ ...Roles, minItems: 1 }),
  },
  { additionalProperties: false },
)
export type InviteUser = Static<typeof InviteUser>

export const UpdateUser = Type.Partial(
  Type.Object({
    name: UserName,
    is_active: Type.Boolean({ description: 'False: no one can sign in with it, and its sessions end' }),
    roles: Type.Unsafe<Static<typeof Roles>>({ ...Roles, description: 'Replaces the roles that the caller manages' }),
  }),
  { additionalProperties: false },
)
export type UpdateUser = Static<typeof UpdateUser>

export const userRecord = (row: UserRow, grants: Grants, ways: Ways): UserRecord => ({
  id: row.id,
  email: row.email,
  name: row.name,
  status: row.disabled_at !== null ? 'disabled' : isInvited(row, ways) ? 'invited' : 'active',
  roles: entriesOf(grants),
  group_roles: entriesOf(ways.byGroups),
  has_password: row.password_hash !== null,
  single_sign_on: ways.hasIdentity,
  two_step: ways.hasTwoSteps,
  created_at: isoTime(row.created_at),
  created_by: row.created_by,
  last_sign_in_at: isoTimeOrNull(row.last_sign_in_at),
})
